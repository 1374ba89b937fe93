/* iter/batch_lease.c - a batch stays the consumer's: its block of memory is traded for another one.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "iter/state.h"

struct imrec_kept {
    struct batch_lease *lease;
    struct batch_blocks blocks;
    struct imrec_kept *next; /* of those released */
};

struct batch_lease {
    struct imrec_memory memory; /* where blocks come from */
    struct batch_sizes sizes;   /* of those of a batch */
    struct mutex lock;
    uint64_t batches;            /* besides the iterator's own: kept, or to be used again */
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
    k->memory = s->memory;
    k->sizes = slots_sizes(s);
    k->users = 1;
    return k;
}

static size_t batch_bytes(const struct batch_lease *k)
{
    return k->sizes.data + k->sizes.masks;
}

/* Without a lock: the caller's function may release another batch of this lease. */
static void free_all(struct imrec_kept *kept, const struct imrec_memory *m, struct batch_sizes n)
{
    while (kept != NULL) {
        struct imrec_kept *const next = kept->next;
        batch_memory_give(m, n, kept->blocks);
        imrec_free(kept);
        kept = next;
    }
}

/* Under the lock, which it unlocks: gives back what nobody will ask for, and the lease after its
 * last user. */
static void leave(struct batch_lease *k)
{
    const struct imrec_memory memory = k->memory; /* the lease may be gone when they are needed */
    const struct batch_sizes sizes = k->sizes;
    const bool last = --k->users == 0;
    struct imrec_kept *unused = NULL;
    if (k->left || memory.free_released) {
        unused = k->released;
        k->released = NULL;
    }
    for (const struct imrec_kept *u = unused; u != NULL; u = u->next)
        k->batches--;
    mutex_unlock(&k->lock);
    free_all(unused, &memory, sizes);
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

uint64_t batch_lease_memory(struct batch_lease *k)
{
    if (k == NULL)
        return 0;
    mutex_lock(&k->lock);
    const uint64_t batches = k->batches;
    mutex_unlock(&k->lock);
    return batches * batch_bytes(k);
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

/* Without blocks. */
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

/* The batch delivered last becomes that of `kept`, the iterator gets the blocks of `kept`. */
static void trade(struct imrec_iter *it, struct imrec_kept *kept)
{
    const struct batch_blocks batch = {.data = it->slots.data[it->held],
                                       .masks = it->slots.masks[it->held]};
    it->slots.data[it->held] = kept->blocks.data;
    it->slots.masks[it->held] = kept->blocks.masks;
    kept->blocks = batch;
    it->held_kept = true;
    mutex_lock(&it->lease->lock);
    it->lease->users++;
    mutex_unlock(&it->lease->lock);
}

/* Whether memory_limit has room for another batch. */
static enum imrec_status check_limit(const struct imrec_iter *it, struct imrec_error *err)
{
    const uint64_t limit = (uint64_t)it->options.memory_limit;
    const size_t bytes = batch_bytes(it->lease);
    const uint64_t kept = batch_lease_memory(it->lease) + bytes;
    if (limit == 0 || it->memory_planned + kept <= limit)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_LIMIT,
                      "memory_limit is %llu bytes, but with %llu kept batches of %zu bytes "
                      "%llu are needed: release batches before asking for more, or copy them",
                      (unsigned long long)limit, (unsigned long long)(kept / bytes), bytes,
                      (unsigned long long)(it->memory_planned + kept));
}

static enum imrec_status
make_block(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err)
{
    struct batch_lease *k = it->lease;
    struct imrec_kept *kept;
    IMREC_TRY(check_limit(it, err));
    IMREC_TRY(make_kept(it, &kept, err));
    const enum imrec_status st = batch_memory_take(&k->memory, k->sizes, &kept->blocks, err);
    if (st != IMREC_OK) {
        imrec_free(kept);
        return st;
    }
    mutex_lock(&k->lock);
    k->batches++;
    mutex_unlock(&k->lock);
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
    mutex_lock(&it->lease->lock);
    it->lease->batches++; /* the iterator loses one and gets none for it */
    mutex_unlock(&it->lease->lock);
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
    if (it->options.equal_batches)
        return equal_count_get(&it->equal, samples, err);
    if (it->samples_known) {
        *samples = it->samples;
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
