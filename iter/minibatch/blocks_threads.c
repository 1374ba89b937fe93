/* iter/minibatch/blocks_threads.c - the threads that load blocks and do tasks. */
#include "iter/minibatch/blocks_state.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>

/* ---- tasks ------------------------------------------------------------------------------- */

void blocks_do_task(struct blocks *b)
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

void blocks_post(struct blocks *b, uint64_t number)
{
    mutex_lock(&b->lock);
    while (!b->stop && b->posted - b->settled == b->task.most)
        cond_wait(&b->done, &b->lock);
    b->queued[b->posted++ % b->task.most].number = number;
    if (b->sleeping > 0)
        cond_wake_all(&b->work);
    if (b->posted - b->begun >= b->workers) /* more than the threads can begin */
        blocks_do_task(b);
    mutex_unlock(&b->lock);
}

void blocks_settle(struct blocks *b)
{
    mutex_lock(&b->lock);
    while (!b->stop && b->settled < b->posted)
        if (b->begun < b->posted)
            blocks_do_task(b);
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
        blocks_load(w, number);
        return true;
    }
    return false;
}

/* Tasks come first: they end what was begun, and give memory back. */
static bool do_something(struct blocks_worker *w)
{
    if (w->blocks->begun == w->blocks->posted)
        return load_next(w);
    blocks_do_task(w->blocks);
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
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory for the tables of %" PRIu64 " chunks", b->count);
    return IMREC_OK;
}

enum imrec_status blocks_start(struct corpus *const *corpus, uint32_t corpora, uint32_t threads,
                               const struct blocks_task *task, struct blocks **out,
                               struct imrec_error *err)
{
    struct blocks *b = *out = imrec_zalloc(1, sizeof(*b));
    if (b == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for chunks");
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
    for (uint32_t i = 0; b->worker != NULL && i < b->workers; i++) {
        thread_join(&b->worker[i].thread);
        room_free(&b->worker[i].scratch.text);
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
    imrec_free(b->worker);
    imrec_free(b->queued);
    imrec_free(b);
}
