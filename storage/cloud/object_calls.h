/* storage/cloud/object_calls.h - whole small objects: put, get, delete, copy. A name is a key of
 * the place's bucket. */
#ifndef IMREC_STORAGE_CLOUD_OBJECT_CALLS_H
#define IMREC_STORAGE_CLOUD_OBJECT_CALLS_H

#include "base/buf.h"
#include "storage/cloud/place.h"

IMREC_NODISCARD enum imrec_status
cloud_put(struct cloud_place *p, const char *key, struct bytes content, struct imrec_error *err);
/* Appends its content, up to the bound of *to; *found false: there is no such object. */
IMREC_NODISCARD enum imrec_status cloud_get(struct cloud_place *p, const char *key, struct buf *to,
                                            bool *found, struct imrec_error *err);
/* Its size; *found false: there is no such object. */
IMREC_NODISCARD enum imrec_status cloud_size(struct cloud_place *p, const char *key, uint64_t *size,
                                             bool *found, struct imrec_error *err);
/* None is fine. */
IMREC_NODISCARD enum imrec_status
cloud_delete(struct cloud_place *p, const char *key, struct imrec_error *err);
/* In the store, an object of `size` bytes. */
IMREC_NODISCARD enum imrec_status cloud_copy(struct cloud_place *p, const char *from,
                                             const char *to, uint64_t size,
                                             struct imrec_error *err);
#endif
