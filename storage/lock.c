/* storage/lock.c - which store a lock is of. */
#include "storage/lock.h"

#include "base/error.h"
#include "storage/schemes.h"

enum imrec_status lock_take(const char *uri, struct lock **out, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    *out = NULL;
    IMREC_TRY(store_of(uri, &store, &name, err));
    if (store->lock == NULL)
        return store_cannot(uri, store, "be written to", err);
    IMREC_TRY(store->lock(name, out, err));
    (*out)->store = store;
    return IMREC_OK;
}

void lock_drop(struct lock *l)
{
    if (l != NULL)
        l->store->unlock(l);
}
