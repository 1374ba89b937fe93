/* im2rec/reshape/source_sets.h - the sets that are read: shards in order, names, class lists. */
#ifndef IMREC_IM2REC_RESHAPE_SOURCE_SETS_H
#define IMREC_IM2REC_RESHAPE_SOURCE_SETS_H

#include "container/container.h"
#include "dataset/checked_reader.h"
#include "formats/set/class_list.h"

#include <stddef.h>

struct source_sets {
    char **shard;
    size_t count;
    struct container_options as; /* of each: what the caller's reader options say */
    struct class_list classes;
    bool has_classes;
    /* the shard being read */
    size_t at;
    struct imrec_checked *reader;
    struct imrec_names *names;
    char *list;         /* that the names are of */
    uint64_t unchecked; /* records of the shards before it that nothing could be compared with */
    bool warned;        /* that there are some */
    uint64_t metadata;  /* records passed over: headers and identities, no samples */
};

/* Appends the shards that URIs mean to a list, in memory of imrec_realloc(). `container`: of which
 * kind they are. */
IMREC_NODISCARD enum imrec_status source_sets_expand(const char *const *uris, size_t count,
                                                     enum imrec_container container, char ***shards,
                                                     size_t *shard_count, struct imrec_error *err);
enum source_classes {
    SOURCE_CLASSES_NONE, /* nobody wants one */
    SOURCE_CLASSES_SAME,
    SOURCE_CLASSES_GROW, /* one that begins with all of those before takes their place */
};
/* Expands the URIs; o: how they are read, or NULL. Class lists that differ are IMREC_ERR_ARGUMENT.
 */
IMREC_NODISCARD enum imrec_status
source_sets_open(const char *const *uris, size_t count, const struct imrec_reader_options *o,
                 enum source_classes want, struct source_sets *out, struct imrec_error *err);
/* The next image record, compared with its checksum, metadata skipped; *shard is its shard.
 * IMREC_ERR_DATA: the loss is in source_sets_found(), and the next call continues after it.
 * IMREC_END: that was all. */
IMREC_NODISCARD enum imrec_status source_sets_next(struct source_sets *s, struct imrec_record *out,
                                                   size_t *shard, struct imrec_error *err);
/* After IMREC_ERR_DATA; *records: how many the finding covers. */
const struct imrec_finding *source_sets_found(const struct source_sets *s, uint64_t *records);
/* Records given so far that nothing could be compared with. */
uint64_t source_sets_unchecked(const struct source_sets *s);
/* The name of the last record in the list next to the shard, or a name made of its id. */
const char *
source_sets_path(const struct source_sets *s, const struct imrec_record *r, char room[64]);
/* Samples of all shards: out of indexes where there are some, else by reading. */
IMREC_NODISCARD enum imrec_status
source_sets_count(const struct source_sets *s, uint64_t *out, struct imrec_error *err);
/* Whether a shard belongs to the set that would be written as `rec`. */
bool source_sets_has(const struct source_sets *s, const char *rec);
void source_sets_close(struct source_sets *s); /* zeroed memory is fine */
#endif
