/* storage/cloud/cloud_state.h - what of an object in a bucket is written and durable, under
 * NAME.part.
 *
 * A small one is there itself. Of a larger one parts have been uploaded; NAME.part then says of
 * which upload, how many, and holds the bytes after them, fewer than a part may have. It also has
 * this of the sync before: a packer's journal may be one sync older than its shards. */
#ifndef IMREC_STORAGE_CLOUD_CLOUD_STATE_H
#define IMREC_STORAGE_CLOUD_CLOUD_STATE_H

#include "base/buf.h"
#include "storage/cloud/object_calls.h"
#include "storage/cloud/upload.h"

#define CLOUD_PART_BYTES ((size_t)16 << 20) /* of the first parts; and the largest small object */

struct cloud_mark { /* of a sync */
    uint32_t parts;
    uint64_t bytes;    /* in them */
    struct bytes tail; /* after them; of the text it was read from */
};
struct cloud_state {
    struct buf text;          /* as it is in the bucket */
    char id[UPLOAD_ID_BYTES]; /* of the upload; "": the text is the object */
    struct cloud_mark last, before;
};

/* The key of a name's temporary object; of imrec_realloc(), NULL: no memory. */
char *cloud_part_key(const char *key);
/* *found false: there is none. */
IMREC_NODISCARD enum imrec_status cloud_state_load(struct cloud_state *s, struct cloud_place *p,
                                                   const char *part_key, bool *found,
                                                   struct imrec_error *err);
/* What the text says, where it is an upload's state: hostile bytes. */
IMREC_NODISCARD enum imrec_status
cloud_state_read(struct cloud_state *s, const struct cloud_place *p, struct imrec_error *err);
/* Puts the text of an upload's state there. */
IMREC_NODISCARD enum imrec_status cloud_state_save(struct cloud_place *p, const char *part_key,
                                                   const char *id, const struct cloud_mark *last,
                                                   const struct cloud_mark *before,
                                                   struct imrec_error *err);
void cloud_state_free(struct cloud_state *s);
/* Bytes that are durable. */
uint64_t cloud_state_size(const struct cloud_state *s);

/* storage/cloud/cloud_publish.c: operations of the store. */
IMREC_NODISCARD enum imrec_status cloud_publish(enum cloud cloud, const char *name, const char *as,
                                                bool new, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
cloud_remove(enum cloud cloud, const char *name, struct imrec_error *err);
/* Of an open place: the upload and all that is below its NAME.part. */
enum imrec_status
cloud_remove_part(struct cloud_place *p, const char *part_key, struct imrec_error *err);
#endif
