/* storage/cloud/listing.h - what is below a prefix of a bucket, page by page. */
#ifndef IMREC_STORAGE_CLOUD_LISTING_H
#define IMREC_STORAGE_CLOUD_LISTING_H

#include "storage/cloud/place.h"

struct listed_object {
    const char *key;  /* until the function returns */
    size_t bytes;     /* of the key; it may hold a NUL */
    bool folder;      /* the key ends with '/': what all keys below have in front */
    uint64_t size;    /* of an object */
    const char *etag; /* of an object, as the list says it; "": it does not. Hostile bytes */
};

typedef enum imrec_status
listed_fn(void *user, const struct listed_object *entry, struct imrec_error *err);

struct listing { /* zeroed at first */
    char *next;  /* where the next page begins; NULL: it is the first one, or there is none */
    bool ended;
};

/* One page of the keys that begin with `prefix`: those without another '/', and the folders. */
IMREC_NODISCARD enum imrec_status listing_page(struct listing *l, struct cloud_place *p,
                                               const char *prefix, listed_fn *found, void *user,
                                               struct imrec_error *err);
/* What the server answered, as listing_page() reads it: hostile bytes. */
IMREC_NODISCARD enum imrec_status listing_read(struct listing *l, const struct cloud_place *p,
                                               struct bytes answer, listed_fn *found, void *user,
                                               struct imrec_error *err);
void listing_free(struct listing *l);
#endif
