/* iter/batch_lease.c - a batch stays the consumer's: its block of memory is traded for another one.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/pages.h"
#include "iter/state.h"

struct imrec_kept {
    struct batch_lease *lease;
    void *data, *masks;      /* masks: NULL where there are none */
    struct imrec_kept *next; /* of those released */
};

struct batch_lease {
    struct mutex lock;
    size_t bytes, masks_bytes;   /* of a block of data, and of masks */
    uint64_t blocks;             /* besides the iterator's own */
    uint64_t users;              /* the iterator, and batches that are kept */
    bool left;                   /* the iterator is closed */
    struct imrec_kept *released; /* to be used again */
};

static struct batch_lease *batch_lease_new(const struct slots *s)
{
    struct batch_lease *k = imrec_zalloc(1, sizeof(*k));
    if (k == NULL)
        return NULL;
    mutex_init(&k->lock);
    k->bytes = s->data_bytes;
    k->masks_bytes = s->masks_bytes;
    k->users = 1;
    return k;
}

static void kept_free(struct imrec_kept *kept)
{
    pages_free(kept->data, kept->lease->bytes);
    pages_free(kept->masks, kept->lease->masks_bytes);
    imrec_free(kept);
}

/* Under the lock: gives back what nobody will ask for, and the lease after its last user. */
static void leave(struct batch_lease *k)
{
    const bool last = --k->users == 0;
    while (k->left && k->released != NULL) {
        struct imrec_kept *const kept = k->released;
        k->released = kept->next;
        kept_free(kept);
    }
    mutex_unlock(&k->lock);
    if (!last)
        return;
    mutex_destroy(&k->lock);
    imrec_free(k);
}

void batch_lease_leave(struct batch_lease *k)
{
    if (k == NULL)
        return;
    mutex_lock(&k->lock);
    k->left = true;
    leave(k);
}

void imrec_kept_release(struct imrec_kept *kept)
{
    if (kept == NULL)
        return;
    struct batch_lease *const k = kept->lease;
    mutex_lock(&k->lock);
    kept->next = k->released;
    k->released = kept;
    leave(k);
}

uint64_t batch_lease_memory(const struct batch_lease *k)
{
    return k != NULL ? k->blocks * (k->bytes + k->masks_bytes)
                     : 0; /* only the consumer's thread changes it */
}

/* ---- keeping ------------------------------------------------------------------------------ */

static struct imrec_kept *take_released(struct batch_lease *k)
{
    mutex_lock(&k->lock);
    struct imrec_kept *const kept = k->released;
    if (kept != NULL)
        k->released = kept->next;
    mutex_unlock(&k->lock);
    return kept;
}

/* Without a block. */
static enum imrec_status
make_kept(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err)
{
    if (it->lease == NULL)
        it->lease = batch_lease_new(&it->slots);
    struct imrec_kept *kept = it->lease != NULL ? imrec_zalloc(1, sizeof(*kept)) : NULL;
    *out = kept;
    if (kept == NULL)
        return IMREC_NO_MEMORY(err, "no memory to keep a batch");
    kept->lease = it->lease;
    return IMREC_OK;
}

/* The batch delivered last becomes that of `kept`, the iterator gets the block of `kept`. */
static void trade(struct imrec_iter *it, struct imrec_kept *kept)
{
    void *const batch = it->slots.data[it->held];
    it->slots.data[it->held] = kept->data;
    kept->data = batch;
    if (it->slots.masks_bytes != 0) {
        void *const masks = it->slots.masks[it->held];
        it->slots.masks[it->held] = kept->masks;
        kept->masks = masks;
    }
    it->held_kept = true;
    mutex_lock(&it->lease->lock);
    it->lease->users++;
    mutex_unlock(&it->lease->lock);
}

static enum imrec_status
make_block(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err)
{
    struct batch_lease *k = it->lease;
    const uint64_t limit = (uint64_t)it->options.memory_limit;
    const size_t bytes = k->bytes + k->masks_bytes;
    const uint64_t sum = it->memory_planned + (k->blocks + 1) * bytes;
    if (limit != 0 && sum > limit)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "memory_limit is %llu bytes, but with %llu kept batches of %zu bytes "
                          "%llu are needed: release batches before asking for more, or copy them",
                          (unsigned long long)limit, (unsigned long long)k->blocks + 1, bytes,
                          (unsigned long long)sum);
    struct imrec_kept *kept;
    IMREC_TRY(make_kept(it, &kept, err));
    if ((kept->data = pages_alloc(k->bytes)) == NULL ||
        (k->masks_bytes != 0 && (kept->masks = pages_alloc(k->masks_bytes)) == NULL)) {
        kept_free(kept);
        return IMREC_NO_MEMORY(err, "no memory for another batch of %zu bytes", bytes);
    }
    k->blocks++;
    *out = kept;
    return IMREC_OK;
}

enum imrec_status
imrec_iter_keep(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err)
{
    *out = NULL;
    if (!it->holding || it->held_kept)
        return IMREC_REFUSE(err, "there is no batch to keep: none was delivered, or it is kept");
    if (it->lease == NULL && (it->lease = batch_lease_new(&it->slots)) == NULL)
        return IMREC_NO_MEMORY(err, "no memory to keep batches");
    struct imrec_kept *kept = take_released(it->lease);
    if (kept == NULL)
        IMREC_TRY(make_block(it, &kept, err));
    trade(it, kept);
    *out = kept;
    return IMREC_OK;
}

enum imrec_status
batch_lease_last(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err)
{
    *out = NULL;
    if (!it->holding || it->held_kept)
        return IMREC_OK;
    IMREC_TRY(make_kept(it, out, err));
    trade(it, *out);
    return IMREC_OK;
}

/* ---- counting ----------------------------------------------------------------------------- */

enum imrec_status
imrec_iter_samples(struct imrec_iter *it, uint64_t *samples, struct imrec_error *err)
{
    if (it->stream.plan.global != NULL) {
        *samples = it->global.share.records;
        return IMREC_OK;
    }
    if (it->samples_known || it->options.equal_batches) {
        *samples = it->options.equal_batches ? it->schedule.equal : it->samples;
        return IMREC_OK;
    }
    uint64_t *counts = imrec_zalloc((size_t)it->options.num_parts, sizeof(*counts));
    if (counts == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the counts of %lld partitions",
                               (long long)it->options.num_parts);
    const enum imrec_status st = container_count(&it->container, counts, err);
    if (st == IMREC_OK)
        *samples = it->samples = counts[it->options.part_index];
    it->samples_known = st == IMREC_OK;
    imrec_free(counts);
    return st;
}
