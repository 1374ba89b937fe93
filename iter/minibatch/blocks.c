/* iter/minibatch/blocks.c - blocks in memory. */
#include "iter/minibatch/blocks_state.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>

static uint32_t corpus_of(const struct blocks *b, uint64_t number)
{
    uint32_t k = b->corpora - 1;
    while (b->pool[k].first > number)
        k--;
    return k;
}

/* ---- slots: under the lock --------------------------------------------------------------- */

static bool add_slot_room(struct blocks *b)
{
    if (b->slots < b->slot_room)
        return true;
    const uint32_t more = b->slot_room == 0 ? 16 : 2 * b->slot_room;
    struct blocks_slot **slot = imrec_realloc(b->slot, more, sizeof(*slot));
    b->slot = slot != NULL ? slot : b->slot;
    uint32_t *resident = imrec_realloc(b->resident, more, sizeof(*resident));
    b->resident = resident != NULL ? resident : b->resident;
    if (slot == NULL || resident == NULL)
        return false;
    b->slot_room = more;
    return true;
}

/* Slots are numbered by their place in b->slot, which a freed one keeps. */
static struct blocks_slot *take_slot(struct blocks *b, uint32_t corpus, uint32_t *number)
{
    struct blocks_slot *s = b->pool[corpus].free;
    if (s != NULL) {
        b->pool[corpus].free = s->next;
        *number = (uint32_t)s->number;
        return s;
    }
    if (!add_slot_room(b) || (s = imrec_zalloc(1, sizeof(*s))) == NULL)
        return NULL;
    *number = b->slots;
    b->slot[b->slots++] = s;
    return s;
}

static void give_slot(struct blocks *b, uint64_t block)
{
    struct blocks_entry *e = &b->entry[block];
    struct blocks_slot *s = b->slot[e->slot];
    struct blocks_pool *p = &b->pool[corpus_of(b, block)];
    s->number = e->slot; /* while it is free */
    s->next = p->free;
    p->free = s;
    e->state = BLOCK_ABSENT;
}

/* A block that is resident but could not be loaded. */
static void forget(struct blocks *b, uint64_t number)
{
    uint32_t i = 0;
    while (b->resident[i] != b->entry[number].slot)
        i++;
    b->resident[i] = b->resident[--b->residents];
    give_slot(b, number);
}

/* ---- loading ----------------------------------------------------------------------------- */

void blocks_load(struct blocks_worker *w, uint64_t number)
{
    struct blocks *b = w->blocks;
    const uint32_t k = corpus_of(b, number);
    struct blocks_entry *e = &b->entry[number];
    struct imrec_error err = {0};
    struct blocks_slot *s = take_slot(b, k, &e->slot);
    enum imrec_status st = IMREC_OK;
    if (s == NULL) {
        st = imrec_error_at(&err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for a chunk");
    } else {
        e->state = BLOCK_LOADING;
        b->resident[b->residents++] = e->slot;
        s->number = number;
        mutex_unlock(&b->lock);
        st = block_load(&s->block, b->corpus[k], (uint32_t)(number - b->pool[k].first), &w->scratch,
                        &err);
        mutex_lock(&b->lock);
        const uint64_t memory = block_memory(&s->block);
        b->memory += memory - s->memory; /* modulo 2^64 */
        s->memory = memory;
    }
    e->state = BLOCK_READY;
    if (st != IMREC_OK) {
        if (s != NULL)
            forget(b, number);
        e->state = BLOCK_FAILED;
        b->error = err;
        b->error.status = st;
        b->failed = number;
    }
    b->bytes_read += b->corpus[k]->block[number - b->pool[k].first].bytes;
    cond_wake_all(&b->done);
}

/* ---- the consumer ------------------------------------------------------------------------ */

void blocks_want(struct blocks *b, const uint64_t *wanted, uint64_t n)
{
    mutex_lock(&b->lock);
    for (uint64_t i = b->head; i < b->tail; i++)
        if (b->entry[b->queue[i]].state == BLOCK_QUEUED)
            b->entry[b->queue[i]].state = BLOCK_ABSENT;
    for (uint64_t i = 0; i < b->wanteds; i++)
        b->entry[b->wanted[i]].wanted = false;
    b->head = b->tail = b->wanteds = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct blocks_entry *e = &b->entry[wanted[i]];
        if (!e->wanted)
            b->wanted[b->wanteds++] = wanted[i];
        e->wanted = true;
        if (e->state == BLOCK_ABSENT || e->state == BLOCK_FAILED) { /* what failed is tried again */
            e->state = BLOCK_QUEUED;
            b->queue[b->tail++] = wanted[i];
        }
    }
    b->untidy = true;
    cond_wake_all(&b->work);
    mutex_unlock(&b->lock);
}

enum imrec_status
blocks_get(struct blocks *b, uint64_t number, const struct block **out, struct imrec_error *err)
{
    struct blocks_entry *e = &b->entry[number];
    enum imrec_status st = IMREC_OK;
    mutex_lock(&b->lock);
    while (!b->stop && e->state != BLOCK_READY &&
           (e->state != BLOCK_FAILED || b->failed != number)) {
        if (e->state != BLOCK_LOADING) /* FAILED too: why is forgotten, so see again */
            blocks_load(&b->worker[0], number);
        else if (b->begun < b->posted)
            blocks_do_task(b);
        else
            cond_wait(&b->done, &b->lock);
    }
    e->used = b->posted + 1;
    if (b->stop) {
        st = IMREC_ERR_CANCELLED;
    } else if (e->state == BLOCK_FAILED) {
        st = b->error.status;
        if (err != NULL)
            *err = b->error;
    } else {
        *out = &b->slot[e->slot]->block;
    }
    b->untidy = b->untidy || !e->wanted;
    mutex_unlock(&b->lock);
    return st;
}

/* Nothing is known to need it any more. */
static bool is_spare(const struct blocks *b, uint64_t number)
{
    const struct blocks_entry *e = &b->entry[number];
    return e->state != BLOCK_LOADING && !e->wanted &&
           !b->corpus[corpus_of(b, number)]->o.keep_data_in_memory;
}

void blocks_trim(struct blocks *b)
{
    uint32_t kept = 0;
    bool untidy = false;
    mutex_lock(&b->lock);
    for (uint32_t i = 0; i < b->residents && b->untidy; i++) {
        const uint32_t slot = b->resident[i];
        const uint64_t number = b->slot[slot]->number;
        const bool spare = is_spare(b, number), used = b->entry[number].used > b->settled;
        untidy = untidy || (spare && used);
        if (spare && !used)
            give_slot(b, number);
        else
            b->resident[kept++] = slot;
    }
    b->residents = b->untidy ? kept : b->residents;
    b->untidy = untidy;
    mutex_unlock(&b->lock);
}

uint64_t blocks_bytes_read(struct blocks *b)
{
    mutex_lock(&b->lock);
    const uint64_t n = b->bytes_read;
    mutex_unlock(&b->lock);
    return n;
}

uint64_t blocks_memory(struct blocks *b)
{
    mutex_lock(&b->lock);
    const uint64_t n = b->memory + b->count * (sizeof(*b->entry) + 2 * sizeof(*b->queue));
    mutex_unlock(&b->lock);
    return n;
}

uint64_t blocks_first(const struct blocks *b, uint32_t corpus)
{
    return b->pool[corpus].first;
}

uint64_t blocks_count(const struct blocks *b)
{
    return b->count;
}
