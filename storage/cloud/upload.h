/* storage/cloud/upload.h - an object that is uploaded in parts, and is there when all are
 * (CreateMultipartUpload, UploadPart, CompleteMultipartUpload of S3; gs has the same). */
#ifndef IMREC_STORAGE_CLOUD_UPLOAD_H
#define IMREC_STORAGE_CLOUD_UPLOAD_H

#include "base/bytes.h"
#include "storage/cloud/place.h"

#define UPLOAD_PARTS_MOST   10000
#define UPLOAD_PART_LEAST   ((size_t)5 << 20) /* of all but the last one */
#define UPLOAD_ID_BYTES     1024
#define UPLOAD_QUERY_BYTES  (3 * UPLOAD_ID_BYTES + 64)
#define UPLOAD_ANSWER_BYTES ((size_t)4 << 20)

struct upload_part {
    char etag[192];
    uint64_t bytes;
};
struct upload { /* zeroed at first */
    char *key;
    char id[UPLOAD_ID_BYTES]; /* "": none has begun */
    struct upload_part *part; /* number 1 first */
    uint64_t room;
    uint32_t count;
};

IMREC_NODISCARD enum imrec_status
upload_begin(struct upload *u, struct cloud_place *p, const char *key, struct imrec_error *err);
/* One that was begun earlier, with what of it the store has: its parts 1 to `count`, all in a row.
 */
IMREC_NODISCARD enum imrec_status upload_find(struct upload *u, struct cloud_place *p,
                                              const char *key, const char *id, uint32_t count,
                                              struct imrec_error *err);
/* "partNumber=N&uploadId=ID" */
IMREC_NODISCARD enum imrec_status upload_query(const struct upload *u, uint32_t number,
                                               char out[UPLOAD_QUERY_BYTES],
                                               struct imrec_error *err);
/* A page of the list of parts: notes those that follow the last one. *next is where the next page
 * begins, 0: there is none. */
IMREC_NODISCARD enum imrec_status upload_note_listed(struct upload *u, const struct cloud_place *p,
                                                     struct bytes answer, uint32_t *next,
                                                     struct imrec_error *err);
/* Part `number` is there; of a copied one the answer says its ETag. */
IMREC_NODISCARD enum imrec_status upload_note(struct upload *u, uint32_t number, const char *etag,
                                              uint64_t bytes, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status upload_note_copied(struct upload *u, const struct cloud_place *p,
                                                     struct bytes answer, uint64_t bytes,
                                                     struct imrec_error *err);
/* The part after the last one, now. */
IMREC_NODISCARD enum imrec_status
upload_put(struct upload *u, struct cloud_place *p, struct bytes content, struct imrec_error *err);
/* The object is there. sys_errno ENOENT: the upload is not, or no longer. `taken`: it is not made
 * where there is one, as cloud_do_new() says; NULL: it replaces that. */
IMREC_NODISCARD enum imrec_status
upload_complete(struct upload *u, struct cloud_place *p, bool *taken, struct imrec_error *err);
/* None is fine. */
enum imrec_status
upload_abort(const struct upload *u, struct cloud_place *p, struct imrec_error *err);
void upload_free(struct upload *u);

/* An answer of status 200 may hold an error all the same. */
IMREC_NODISCARD enum imrec_status
upload_check_answer(const struct cloud_place *p, struct bytes answer, struct imrec_error *err);
#endif
