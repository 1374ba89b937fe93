/* container/kinds.h - the kinds of containers. One more is a file here, and its line in kinds.c. */
#ifndef IMREC_CONTAINER_KINDS_H
#define IMREC_CONTAINER_KINDS_H

#include "container/container.h"

extern const struct container_kind recordio_kind; /* MXNet's records: cells, or an index */
extern const struct container_kind
    webdataset_kind;                              /* tar archives: files of one key are a sample */
extern const struct container_kind tfrecord_kind; /* TensorFlow's records: Examples */
/* Those that are known by their first bytes; NULL after the last. Of source=: user_source.h. */
extern const struct container_kind *const container_kinds[];

/* The one that container= names; NULL: AUTO. */
const struct container_kind *kinds_of(enum imrec_container c);

/* What each shard of container.late must be, when it is read first: another kind, and another kind
 * of file, are errors that name it. */
struct kind_check {
    struct later_check base;           /* first; its check is kinds_check() */
    const struct container_kind *kind; /* NULL: not known yet, or it does not matter */
    const char *first;                 /* the shard that has it */
};
enum imrec_status kinds_check(const struct later_check *base, const char *uri, struct bytes first,
                              struct imrec_error *err);

/* The kind of all shards, which must be of one; of container.late that of the first one. *empty:
 * none has a byte, and *out is the first kind. Another kind of file, and one without any head of a
 * record, are errors. A shard whose first bytes are damaged is searched for its first head of
 * RecordIO or TFRecords; one whose first bytes cannot be read is taken for a shard of RecordIO. */
IMREC_NODISCARD enum imrec_status kinds_find(const struct container *c,
                                             const struct container_kind **out, bool *empty,
                                             struct imrec_error *err);
#endif
