/* iter/sample/headroom.c - memory for images that need more than a worker's planned scratch. */
#include "iter/sample/headroom.h"

#include "base/error.h"

void headroom_init(struct headroom *h)
{
    mutex_init(&h->lock);
    cond_init(&h->given_back);
    h->used = 0;
    h->most = h->room = UINT64_MAX;
}

void headroom_limit(struct headroom *h, uint64_t limit, uint64_t planned, uint32_t workers)
{
    const uint64_t scratch = workers * HEADROOM_FREE_BYTES;
    h->room = limit - planned + HEADROOM_FREE_BYTES; /* its own scratch is for the image too */
    h->most = limit - (planned - scratch);
}

void headroom_destroy(struct headroom *h)
{
    cond_destroy(&h->given_back);
    mutex_destroy(&h->lock);
}

static bool is_free(const struct headroom *h, uint64_t need)
{
    return need <= HEADROOM_FREE_BYTES || h->most == UINT64_MAX;
}

enum imrec_status headroom_take(struct headroom *h, uint64_t need, struct imrec_error *err)
{
    if (is_free(h, need))
        return IMREC_OK;
    if (need > h->most)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "to decode it takes %llu bytes, but memory_limit leaves %llu",
                          (unsigned long long)need, (unsigned long long)h->most);
    mutex_lock(&h->lock);
    while (h->used != 0 && (h->used > h->room || need > h->room - h->used))
        cond_wait(&h->given_back, &h->lock);
    h->used += need;
    mutex_unlock(&h->lock);
    return IMREC_OK;
}

void headroom_give(struct headroom *h, uint64_t need)
{
    if (is_free(h, need))
        return;
    mutex_lock(&h->lock);
    h->used -= need;
    cond_wake_all(&h->given_back);
    mutex_unlock(&h->lock);
}
