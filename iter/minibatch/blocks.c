/* iter/minibatch/blocks.c - blocks in memory. */
#include "iter/minibatch/blocks.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"

#include <inttypes.h>
#include <string.h>

enum state { ABSENT, QUEUED, LOADING, READY, FAILED };

struct entry {
    uint8_t state;
    bool wanted;
    uint32_t slot; /* LOADING, READY */
};

struct slot {
    struct block block;
    uint64_t number; /* of the block */
    uint64_t memory;
    struct slot *next; /* free ones */
};

struct pool { /* of a corpus: blocks of several cannot share memory */
    struct slot *free;
    uint64_t first; /* number of its first block */
};

struct blocks {
    struct corpus *const *corpus;
    uint32_t corpora;
    struct pool *pool;
    struct entry *entry;
    uint64_t count;
    struct slot **slot; /* all there are */
    uint32_t slots, slot_room;
    uint32_t *resident; /* slots that are LOADING or READY, in no order */
    uint32_t residents;

    uint64_t *queue; /* blocks to load: [head, tail) */
    uint64_t head, tail;
    uint64_t *wanted; /* the list that was given last */
    uint64_t wanteds;
    bool untidy; /* there may be something to trim */

    struct mutex lock;
    struct cond work, done;
    bool stop;
    struct imrec_error error; /* of the block that FAILED last ... */
    uint64_t failed;          /* ... which is this one */
    uint64_t bytes_read, memory;
    struct loader_thread {
        struct thread thread;
        struct blocks *blocks;
        struct block_scratch scratch;
    } * thread;
    uint32_t threads;
};

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
    struct slot **slot = imrec_realloc(b->slot, more, sizeof(*slot));
    b->slot = slot != NULL ? slot : b->slot;
    uint32_t *resident = imrec_realloc(b->resident, more, sizeof(*resident));
    b->resident = resident != NULL ? resident : b->resident;
    if (slot == NULL || resident == NULL)
        return false;
    b->slot_room = more;
    return true;
}

/* Slots are numbered by their place in b->slot, which a freed one keeps. */
static struct slot *take_slot(struct blocks *b, uint32_t corpus, uint32_t *number)
{
    struct slot *s = b->pool[corpus].free;
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
    struct entry *e = &b->entry[block];
    struct slot *s = b->slot[e->slot];
    struct pool *p = &b->pool[corpus_of(b, block)];
    s->number = e->slot; /* while it is free */
    s->next = p->free;
    p->free = s;
    e->state = ABSENT;
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

/* ---- threads ----------------------------------------------------------------------------- */

static void load(struct loader_thread *t, uint64_t number)
{
    struct blocks *b = t->blocks;
    const uint32_t k = corpus_of(b, number);
    struct entry *e = &b->entry[number];
    struct imrec_error err = {0};
    struct slot *s = take_slot(b, k, &e->slot);
    enum imrec_status st = IMREC_OK;
    if (s == NULL) {
        st = imrec_error_at(&err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for a chunk");
    } else {
        e->state = LOADING;
        b->resident[b->residents++] = e->slot;
        s->number = number;
        mutex_unlock(&b->lock);
        st = block_load(&s->block, b->corpus[k], (uint32_t)(number - b->pool[k].first), &t->scratch,
                        &err);
        mutex_lock(&b->lock);
        const uint64_t memory = block_memory(&s->block);
        b->memory += memory - s->memory; /* modulo 2^64 */
        s->memory = memory;
    }
    e->state = READY;
    if (st != IMREC_OK) {
        if (s != NULL)
            forget(b, number);
        e->state = FAILED;
        b->error = err;
        b->error.status = st;
        b->failed = number;
    }
    b->bytes_read += b->corpus[k]->block[number - b->pool[k].first].bytes;
    cond_wake_all(&b->done);
}

static void *loader_main(void *arg)
{
    struct loader_thread *t = arg;
    struct blocks *b = t->blocks;
    mutex_lock(&b->lock);
    while (!b->stop) {
        if (b->head == b->tail) {
            cond_wait(&b->work, &b->lock);
            continue;
        }
        const uint64_t number = b->queue[b->head++];
        if (b->entry[number].state == QUEUED)
            load(t, number);
    }
    mutex_unlock(&b->lock);
    return NULL;
}

/* ---- the consumer ------------------------------------------------------------------------ */

void blocks_want(struct blocks *b, const uint64_t *wanted, uint64_t n)
{
    mutex_lock(&b->lock);
    for (uint64_t i = b->head; i < b->tail; i++)
        if (b->entry[b->queue[i]].state == QUEUED)
            b->entry[b->queue[i]].state = ABSENT;
    for (uint64_t i = 0; i < b->wanteds; i++)
        b->entry[b->wanted[i]].wanted = false;
    b->head = b->tail = b->wanteds = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct entry *e = &b->entry[wanted[i]];
        if (!e->wanted)
            b->wanted[b->wanteds++] = wanted[i];
        e->wanted = true;
        if (e->state == ABSENT || e->state == FAILED) { /* what failed is tried again */
            e->state = QUEUED;
            b->queue[b->tail++] = wanted[i];
        }
    }
    b->untidy = true;
    cond_wake_all(&b->work);
    mutex_unlock(&b->lock);
}

/* Puts one block before all others; under the lock. */
static void hurry(struct blocks *b, uint64_t number)
{
    if (b->entry[number].state != ABSENT)
        return;
    b->entry[number].state = QUEUED;
    b->untidy = true;
    if (b->head == 0) { /* the queue has room for all blocks: make some in front */
        memmove(b->queue + 1, b->queue, b->tail * sizeof(*b->queue));
        b->tail++;
        b->head = 1;
    }
    b->queue[--b->head] = number;
    cond_wake_all(&b->work);
}

enum imrec_status
blocks_get(struct blocks *b, uint64_t number, const struct block **out, struct imrec_error *err)
{
    struct entry *e = &b->entry[number];
    enum imrec_status st = IMREC_OK;
    mutex_lock(&b->lock);
    hurry(b, number);
    while (!b->stop && e->state != READY && (e->state != FAILED || b->failed != number)) {
        if (e->state == FAILED) { /* why is forgotten: see again */
            e->state = ABSENT;
            hurry(b, number);
        }
        cond_wait(&b->done, &b->lock);
    }
    if (b->stop) {
        st = IMREC_ERR_CANCELLED;
    } else if (e->state == FAILED) {
        st = b->error.status;
        if (err != NULL)
            *err = b->error;
    } else {
        *out = &b->slot[e->slot]->block;
    }
    mutex_unlock(&b->lock);
    return st;
}

void blocks_trim(struct blocks *b)
{
    uint32_t kept = 0;
    mutex_lock(&b->lock);
    for (uint32_t i = 0; i < b->residents && b->untidy; i++) {
        const uint32_t slot = b->resident[i];
        const uint64_t number = b->slot[slot]->number;
        const struct entry *e = &b->entry[number];
        if (e->state == LOADING || e->wanted ||
            b->corpus[corpus_of(b, number)]->o.keep_data_in_memory)
            b->resident[kept++] = slot;
        else
            give_slot(b, number);
    }
    b->residents = b->untidy ? kept : b->residents;
    b->untidy = false;
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

/* ---- life -------------------------------------------------------------------------------- */

static enum imrec_status make_tables(struct blocks *b, struct imrec_error *err)
{
    b->pool = imrec_zalloc(b->corpora, sizeof(*b->pool));
    for (uint32_t i = 0; i < b->corpora && b->pool != NULL; i++) {
        b->pool[i].first = b->count;
        b->count += b->corpus[i]->blocks;
    }
    b->entry = imrec_zalloc(b->count, sizeof(*b->entry));
    b->queue = imrec_zalloc(b->count + 1, sizeof(*b->queue));
    b->wanted = imrec_zalloc(b->count, sizeof(*b->wanted));
    b->thread = imrec_zalloc(b->threads, sizeof(*b->thread));
    if (b->wanted == NULL || b->pool == NULL || b->entry == NULL || b->queue == NULL ||
        b->thread == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory for the tables of %" PRIu64 " chunks", b->count);
    return IMREC_OK;
}

enum imrec_status blocks_start(struct corpus *const *corpus, uint32_t corpora, uint32_t threads,
                               struct blocks **out, struct imrec_error *err)
{
    struct blocks *b = *out = imrec_zalloc(1, sizeof(*b));
    if (b == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for chunks");
    b->corpus = corpus;
    b->corpora = corpora;
    b->threads = threads;
    mutex_init(&b->lock);
    cond_init(&b->work);
    cond_init(&b->done);
    enum imrec_status st = make_tables(b, err);
    for (uint32_t i = 0; i < threads && st == IMREC_OK; i++) {
        b->thread[i].blocks = b;
        st = thread_start(&b->thread[i].thread, "imrec-text", loader_main, &b->thread[i], err);
    }
    if (st == IMREC_OK)
        return IMREC_OK;
    blocks_stop(b);
    *out = NULL;
    return st;
}

void blocks_cancel(struct blocks *b)
{
    mutex_lock(&b->lock);
    b->stop = true;
    cond_wake_all(&b->work);
    cond_wake_all(&b->done);
    mutex_unlock(&b->lock);
}

void blocks_stop(struct blocks *b)
{
    if (b == NULL)
        return;
    blocks_cancel(b);
    for (uint32_t i = 0; b->thread != NULL && i < b->threads; i++) {
        thread_join(&b->thread[i].thread);
        room_free(&b->thread[i].scratch.text);
    }
    for (uint32_t i = 0; i < b->slots; i++) {
        block_free(&b->slot[i]->block);
        imrec_free(b->slot[i]);
    }
    mutex_destroy(&b->lock);
    cond_destroy(&b->work);
    cond_destroy(&b->done);
    imrec_free(b->slot);
    imrec_free(b->resident);
    imrec_free(b->queue);
    imrec_free(b->wanted);
    imrec_free(b->entry);
    imrec_free(b->pool);
    imrec_free(b->thread);
    imrec_free(b);
}
