/*
 * storage/keep_source.c - a source that remembers what was read.
 *
 * The range is cut into blocks of 2 MiB of the object, one huge page each. A block is read as
 * The first reader of any byte of a block reads the whole block; others that need it wait. Where a
 * block cannot be read or held, the bytes asked for are read from the source beneath, now and the
 * next time: an error stays as narrow as it is there, and no memory means no cache, not no data.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "base/pages.h"
#include "base/threads.h"
#include "storage/source.h"

#include <string.h>

#define BLOCK_BYTES ((uint64_t)2 << 20)

enum block_state { BLOCK_EMPTY, BLOCK_LOADING, BLOCK_KEPT };

struct block {
    uint8_t *p;
    enum block_state state;
};

struct keep_source {
    struct source base; /* first */
    struct source *inner;
    uint64_t begin, end; /* kept range, whole blocks of the object or its end */
    struct block *blocks;
    uint64_t kept_bytes;
    struct mutex lock;
    struct cond loaded;
};

static uint64_t block_begin(const struct keep_source *k, uint64_t i)
{
    return k->begin + i * BLOCK_BYTES;
}

static size_t block_bytes(const struct keep_source *k, uint64_t i)
{
    const uint64_t left = k->end - block_begin(k, i);
    return (size_t)(left < BLOCK_BYTES ? left : BLOCK_BYTES);
}

/* Reads block i into new memory; NULL when that fails. The lock is not held. */
static uint8_t *load(struct keep_source *k, uint64_t i)
{
    uint8_t *p = pages_alloc(block_bytes(k, i));
    if (p != NULL &&
        source_read(k->inner, block_begin(k, i), p, block_bytes(k, i), NULL) != IMREC_OK) {
        pages_free(p, block_bytes(k, i));
        p = NULL;
    }
    return p;
}

/* The bytes of block i, which then never change; NULL: not to be had. */
static const uint8_t *block_of(struct keep_source *k, uint64_t i)
{
    struct block *b = &k->blocks[i];
    mutex_lock(&k->lock);
    while (b->state == BLOCK_LOADING)
        cond_wait(&k->loaded, &k->lock);
    if (b->state == BLOCK_EMPTY) {
        b->state = BLOCK_LOADING;
        mutex_unlock(&k->lock);
        uint8_t *p = load(k, i);
        mutex_lock(&k->lock);
        b->p = p;
        b->state = p != NULL ? BLOCK_KEPT : BLOCK_EMPTY;
        k->kept_bytes += p != NULL ? block_bytes(k, i) : 0;
        cond_wake_all(&k->loaded);
    }
    const uint8_t *p = b->p;
    mutex_unlock(&k->lock);
    return p;
}

/* Copies what block i holds of the range, or reads it from beneath. */
static enum imrec_status read_in_block(struct keep_source *k, uint64_t i, uint64_t offset, void *to,
                                       size_t n, struct imrec_error *err)
{
    const uint8_t *p = block_of(k, i);
    if (p == NULL)
        return source_read(k->inner, offset, to, n, err);
    memcpy(to, p + (offset - block_begin(k, i)), n);
    return IMREC_OK;
}

static enum imrec_status
keep_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct keep_source *k = (struct keep_source *)s;
    for (size_t done = 0; done < n;) {
        const uint64_t at = offset + done;
        size_t take = n - done;
        if (at < k->begin || at >= k->end) { /* outside: up to the range, or all */
            if (at < k->begin && take > k->begin - at)
                take = (size_t)(k->begin - at);
            IMREC_TRY(source_read(k->inner, at, (char *)to + done, take, err));
        } else {
            const uint64_t i = (at - k->begin) / BLOCK_BYTES;
            const uint64_t left = block_begin(k, i) + block_bytes(k, i) - at;
            take = take < left ? take : (size_t)left;
            IMREC_TRY(read_in_block(k, i, at, (char *)to + done, take, err));
        }
        done += take;
    }
    return IMREC_OK;
}

static bool holds(struct keep_source *k, uint64_t offset, uint64_t n)
{
    bool all = offset >= k->begin && offset + n <= k->end;
    mutex_lock(&k->lock);
    for (uint64_t at = offset; all && at < offset + n; at += BLOCK_BYTES)
        all = k->blocks[(at - k->begin) / BLOCK_BYTES].state == BLOCK_KEPT;
    mutex_unlock(&k->lock);
    return all;
}

static void keep_will_need(struct source *s, uint64_t offset, uint64_t n)
{
    struct keep_source *k = (struct keep_source *)s;
    if (!holds(k, offset, n))
        source_will_need(k->inner, offset, n);
}

static void keep_drop(struct source *s, uint64_t offset, uint64_t n)
{
    source_drop(((struct keep_source *)s)->inner, offset, n); /* the pages beneath, not ours */
}

static void keep_close(struct source *s)
{
    struct keep_source *k = (struct keep_source *)s;
    for (uint64_t i = 0; k->blocks != NULL && block_begin(k, i) < k->end; i++)
        pages_free(k->blocks[i].p, block_bytes(k, i));
    cond_destroy(&k->loaded);
    mutex_destroy(&k->lock);
    source_close(k->inner);
    IMREC_FREE(k->blocks, k);
}

static void keep_cancel(struct source *s)
{
    source_cancel(((struct keep_source *)s)->inner);
}

static const struct source_ops keep_ops = {keep_read_at, keep_will_need, keep_drop, keep_close,
                                           keep_cancel};

enum imrec_status keep_source_open(struct source *inner, uint64_t begin, uint64_t end,
                                   struct source **out, struct imrec_error *err)
{
    *out = NULL;
    end = end < inner->size ? end : inner->size;
    begin = begin < end ? begin / BLOCK_BYTES * BLOCK_BYTES : end;
    const uint64_t blocks = ceil_div(end - begin, BLOCK_BYTES);
    struct keep_source *k = imrec_zalloc(1, sizeof(*k));
    struct block *table = imrec_zalloc((size_t)blocks + 1, sizeof(*table));
    if (k == NULL || table == NULL) {
        IMREC_FREE(table, k);
        source_close(inner);
        return IMREC_NO_MEMORY(err, "no memory to keep a shard in memory");
    }
    *k = (struct keep_source){
        .base = {inner->size, &keep_ops, inner->modified, inner->identity, inner->at_once},
        .inner = inner,
        .begin = begin,
        .end = end,
        .blocks = table};
    mutex_init(&k->lock);
    cond_init(&k->loaded);
    *out = &k->base;
    return IMREC_OK;
}

uint64_t keep_source_bytes(const struct source *s)
{
    struct keep_source *k = (struct keep_source *)s;
    mutex_lock(&k->lock);
    const uint64_t n = k->kept_bytes;
    mutex_unlock(&k->lock);
    return n;
}
