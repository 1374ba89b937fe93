/* iter/equal_count.c - with equal_batches: the samples of a sweep. */
#include "iter/equal_count.h"

#include "base/alloc.h"
#include "base/error.h"

void equal_count_init(struct equal_count *e, const struct container *c, struct store_scope *scope)
{
    *e = (struct equal_count){.container = c, .scope = scope};
    mutex_init(&e->lock);
    cond_init(&e->done);
}

static enum imrec_status count(const struct container *c, uint64_t *most, struct imrec_error *err)
{
    const size_t n = (size_t)c->options.num_parts;
    uint64_t *counts = imrec_zalloc(n, sizeof(*counts));
    *most = 0;
    if (counts == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the counts of %zu partitions", n);
    const enum imrec_status st = container_count(c, counts, err);
    for (size_t i = 0; st == IMREC_OK && i < n; i++)
        *most = counts[i] > *most ? counts[i] : *most;
    imrec_free(counts);
    return st;
}

/* The state says that this thread counts. */
static enum imrec_status count_here(struct equal_count *e, struct imrec_error *err)
{
    uint64_t most;
    struct store_scope *before = store_scope_enter(e->scope);
    const enum imrec_status st = count(e->container, &most, err);
    store_scope_enter(before);
    mutex_lock(&e->lock);
    e->most = most;
    e->state = st == IMREC_OK ? EQUAL_COUNTED : EQUAL_AWAITED;
    cond_wake_all(&e->done);
    mutex_unlock(&e->lock);
    return st;
}

/* A failure is that of who needs the number, and counts again. */
static void *count_main(void *arg)
{
    (void)count_here(arg, NULL);
    return NULL;
}

void equal_count_begin(struct equal_count *e)
{
    mutex_lock(&e->lock);
    if (!e->begun && e->state == EQUAL_AWAITED &&
        thread_start(&e->thread, "imrec-count", count_main, e, NULL) == IMREC_OK)
        e->state = EQUAL_COUNTING;
    e->begun = true;
    mutex_unlock(&e->lock);
}

enum imrec_status equal_count_get(struct equal_count *e, uint64_t *most, struct imrec_error *err)
{
    mutex_lock(&e->lock);
    while (e->state == EQUAL_COUNTING)
        cond_wait(&e->done, &e->lock);
    const bool counts = e->state == EQUAL_AWAITED;
    if (counts)
        e->state = EQUAL_COUNTING;
    *most = e->most;
    mutex_unlock(&e->lock);
    if (!counts)
        return IMREC_OK;
    IMREC_TRY(count_here(e, err));
    *most = e->most;
    return IMREC_OK;
}

void equal_count_end(struct equal_count *e)
{
    thread_join(&e->thread);
    cond_destroy(&e->done);
    mutex_destroy(&e->lock);
}
