/* minibatch/corpus/blocks.c - blocks in memory, and the threads that load them and do tasks. */
#include "minibatch/corpus/blocks.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"

#include <inttypes.h>

enum block_state { BLOCK_ABSENT, BLOCK_QUEUED, BLOCK_LOADING, BLOCK_READY, BLOCK_FAILED };

struct blocks_entry {
    uint8_t state;
    bool wanted;
    uint32_t slot; /* LOADING, READY */
    uint64_t used; /* number of the last task, from 1 on, that may look into it */
};

struct blocks_slot {
    struct block block;
    uint64_t number; /* of the block */
    uint64_t memory;
    struct blocks_slot *next; /* free ones */
};

struct blocks_pool { /* of a corpus: blocks of several cannot share memory */
    struct blocks_slot *free;
    uint64_t first; /* number of its first block */
};

struct blocks_worker { /* number 0 is the caller; the others are threads */
    struct thread thread;
    struct blocks *blocks;
    struct block_scratch scratch;
};

struct blocks_queued { /* a task */
    uint64_t number;
    bool done;
};

struct blocks {
    struct corpus *const *corpus;
    uint32_t corpora;
    struct blocks_pool *pool;
    struct blocks_entry *entry;
    uint64_t count;
    struct blocks_slot **slot; /* all there are */
    uint32_t slots;
    uint64_t slot_room; /* of resident too */
    uint32_t *resident; /* slots that are LOADING or READY, in no order */
    uint32_t residents;

    uint64_t *queue; /* blocks to load: [head, tail) */
    uint64_t head, tail;
    uint64_t *wanted; /* the list that was given last */
    uint64_t wanteds;
    bool untidy; /* there may be something to trim */

    struct blocks_task task;
    struct blocks_queued *queued;    /* [task.most], task n at n % task.most */
    uint64_t posted, begun, settled; /* tasks; all before `settled` are done */

    struct mutex lock;
    struct cond work, done;
    bool stop;
    struct imrec_error error; /* of the block that FAILED last ... */
    uint64_t failed;          /* ... which is this one */
    uint64_t bytes_read, memory;
    struct blocks_worker *worker;
    uint32_t workers, sleeping;
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
    uint64_t same = b->slot_room;
    return IMREC_GROW(b->resident, same, b->slots + 1u) &&
           IMREC_GROW(b->slot, b->slot_room, b->slots + 1u);
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

/* Under the lock, which it lets go of while it reads. */
static void load(struct blocks_worker *w, uint64_t number)
{
    struct blocks *b = w->blocks;
    const uint32_t k = corpus_of(b, number);
    struct blocks_entry *e = &b->entry[number];
    struct imrec_error err = {0};
    struct blocks_slot *s = take_slot(b, k, &e->slot);
    enum imrec_status st = IMREC_OK;
    if (s == NULL) {
        st = IMREC_NO_MEMORY(&err, "no memory for a chunk");
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

/* ---- tasks ------------------------------------------------------------------------------- */

/* Under the lock, which it lets go of while it works. */
static void do_task(struct blocks *b)
{
    struct blocks_queued *q = &b->queued[b->begun++ % b->task.most];
    mutex_unlock(&b->lock);
    b->task.run(b->task.context, q->number);
    mutex_lock(&b->lock);
    q->done = true;
    while (b->settled < b->begun && b->queued[b->settled % b->task.most].done)
        b->queued[b->settled++ % b->task.most].done = false;
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
            load(&b->worker[0], number);
        else if (b->begun < b->posted)
            do_task(b);
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

void blocks_look(struct blocks *b, uint64_t *bytes_read, uint64_t *memory)
{
    mutex_lock(&b->lock);
    *bytes_read = b->bytes_read;
    *memory = b->memory + b->count * (sizeof(*b->entry) + 2 * sizeof(*b->queue));
    mutex_unlock(&b->lock);
}

uint64_t blocks_first(const struct blocks *b, uint32_t corpus)
{
    return b->pool[corpus].first;
}

uint64_t blocks_count(const struct blocks *b)
{
    return b->count;
}

void blocks_post(struct blocks *b, uint64_t number)
{
    mutex_lock(&b->lock);
    while (!b->stop && b->posted - b->settled == b->task.most)
        cond_wait(&b->done, &b->lock);
    b->queued[b->posted++ % b->task.most].number = number;
    if (b->sleeping > 0)
        cond_wake_all(&b->work);
    if (b->posted - b->begun >= b->workers) /* more than the threads can begin */
        do_task(b);
    mutex_unlock(&b->lock);
}

void blocks_settle(struct blocks *b)
{
    mutex_lock(&b->lock);
    while (!b->stop && b->settled < b->posted)
        if (b->begun < b->posted)
            do_task(b);
        else
            cond_wait(&b->done, &b->lock);
    mutex_unlock(&b->lock);
}

/* ---- threads ----------------------------------------------------------------------------- */

static bool load_next(struct blocks_worker *w)
{
    struct blocks *b = w->blocks;
    while (b->head < b->tail) {
        const uint64_t number = b->queue[b->head++];
        if (b->entry[number].state != BLOCK_QUEUED)
            continue;
        load(w, number);
        return true;
    }
    return false;
}

/* Tasks come first: they end what was begun, and give memory back. */
static bool do_something(struct blocks_worker *w)
{
    if (w->blocks->begun == w->blocks->posted)
        return load_next(w);
    do_task(w->blocks);
    return true;
}

bool blocks_help(struct blocks *b)
{
    mutex_lock(&b->lock);
    const bool done = !b->stop && b->workers > 1 && do_something(&b->worker[0]);
    mutex_unlock(&b->lock);
    return done;
}

static void *work(void *arg)
{
    struct blocks_worker *w = arg;
    struct blocks *b = w->blocks;
    mutex_lock(&b->lock);
    while (!b->stop) {
        if (!do_something(w)) {
            b->sleeping++;
            cond_wait(&b->work, &b->lock);
            b->sleeping--;
        }
    }
    mutex_unlock(&b->lock);
    return NULL;
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
    b->worker = imrec_zalloc(b->workers, sizeof(*b->worker));
    b->queued = imrec_zalloc(b->task.most, sizeof(*b->queued));
    if (b->wanted == NULL || b->pool == NULL || b->entry == NULL || b->queue == NULL ||
        b->worker == NULL || b->queued == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the tables of %" PRIu64 " chunks", b->count);
    return IMREC_OK;
}

enum imrec_status blocks_start(struct corpus *const *corpus, uint32_t corpora, uint32_t threads,
                               const struct blocks_task *task, struct blocks **out,
                               struct imrec_error *err)
{
    struct blocks *b = *out = imrec_zalloc(1, sizeof(*b));
    if (b == NULL)
        return IMREC_NO_MEMORY(err, "no memory for chunks");
    b->corpus = corpus;
    b->corpora = corpora;
    b->workers = threads;
    b->task = *task;
    mutex_init(&b->lock);
    cond_init(&b->work);
    cond_init(&b->done);
    enum imrec_status st = make_tables(b, err);
    for (uint32_t i = 0; i < threads && st == IMREC_OK; i++) {
        b->worker[i].blocks = b;
        if (i > 0)
            st = thread_start(&b->worker[i].thread, "imrec-text", work, &b->worker[i], err);
    }
    if (st == IMREC_OK)
        return IMREC_OK;
    blocks_stop(b);
    *out = NULL;
    return st;
}

void blocks_cancel(struct blocks *b)
{
    cond_tell(&b->lock, &b->stop, &b->work, &b->done);
}

void blocks_stop(struct blocks *b)
{
    if (b == NULL)
        return;
    blocks_cancel(b);
    for (uint32_t i = 0; b->worker != NULL && i < b->workers; i++) {
        thread_join(&b->worker[i].thread);
        reuse_buffer_free(&b->worker[i].scratch.text);
    }
    for (uint32_t i = 0; i < b->slots; i++) {
        block_free(&b->slot[i]->block);
        imrec_free(b->slot[i]);
    }
    mutex_destroy(&b->lock);
    cond_destroy(&b->work);
    cond_destroy(&b->done);
    IMREC_FREE(b->slot, b->resident, b->queue, b->wanted, b->entry, b->pool, b->worker, b->queued,
               b);
}
