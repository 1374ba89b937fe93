/* parallel/prefetch.c - imrec_prefetch_*(): a bounded buffer after a producer of the user. */
#include "imrec/prefetch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/math.h"
#include "base/pages.h"
#include "base/sized.h"
#include "parallel/ring.h"

#include <stdatomic.h>

enum { ALIGN = 64, MAX_DEPTH = 65536, MAX_THREADS = 1024 };

struct cell {
    void *memory;
    enum imrec_status status; /* of the item in it */
    struct imrec_error error; /* where that is an error */
};

struct imrec_prefetch {
    struct imrec_prefetch_options o;
    struct ring ring;
    uint32_t count; /* of cells: depth, and the consumer's */
    struct cell *cells;
    uint8_t *memory; /* of all cells, if it is ours */
    size_t memory_bytes;
    struct thread *threads;
    /* The consumer's. */
    bool held, ended;
    atomic_uint_least64_t produced, delivered, failed, producer_wait_ns, next_wait_ns;
};

/* ---- threads ----------------------------------------------------------------------------- */

static void produce(struct imrec_prefetch *p, uint64_t number)
{
    struct cell *c = &p->cells[number % p->count];
    c->error = (struct imrec_error){.offset = IMREC_NO_OFFSET};
    c->status = p->o.produce(p->o.context, c->memory, number, &c->error);
    if (c->status == IMREC_OK)
        atomic_fetch_add(&p->produced, 1);
    else if (c->status != IMREC_END && c->error.message[0] == '\0')
        imrec_fail(&c->error, c->status,
                   "item %llu failed with status %d, its producer does not say why",
                   (unsigned long long)number, (int)c->status);
    if (c->status != IMREC_OK && c->status != IMREC_END)
        c->error.status = c->status;
}

/* Numbers are reserved in order: when one has no item, nobody needs a later one. Those before it
 * are in somebody's hands. */
static void *run(void *arg)
{
    struct imrec_prefetch *p = arg;
    for (;;) {
        uint64_t number;
        const uint64_t from = clock_ns();
        if (ring_reserve(&p->ring, &number) != IMREC_OK)
            return NULL; /* cancelled, or the end is known */
        atomic_fetch_add(&p->producer_wait_ns, clock_ns() - from);
        produce(p, number);
        if (p->cells[number % p->count].status == IMREC_END)
            ring_pause(&p->ring);
        ring_publish(&p->ring, number);
    }
}

/* ---- opening ----------------------------------------------------------------------------- */

void imrec_prefetch_options_init_sized(struct imrec_prefetch_options *o, size_t size)
{
    const struct imrec_prefetch_options preset = {.depth = 4, .threads = 1};
    sized_init(o, size, &preset, sizeof(preset));
}

static enum imrec_status
out_of_range(const char *name, uint64_t value, uint32_t most, struct imrec_error *err)
{
    return IMREC_REFUSE(err, "%s is %llu; it is 1 to %u", name, (unsigned long long)value,
                        (unsigned)most);
}

static enum imrec_status check(const struct imrec_prefetch_options *o, struct imrec_error *err)
{
    if (o->depth < 1 || o->depth > MAX_DEPTH)
        return out_of_range("depth", o->depth, MAX_DEPTH, err);
    if (o->threads < 1 || o->threads > MAX_THREADS)
        return out_of_range("threads", o->threads, MAX_THREADS, err);
    if (o->produce == NULL)
        return IMREC_REFUSE(err, "produce is NULL; it is the callback that fills a cell");
    if ((o->cell_bytes != 0) == (o->make_cell != NULL))
        return IMREC_REFUSE(err, "give either cell_bytes, which is %llu, or make_cell, which is %s",
                            (unsigned long long)o->cell_bytes,
                            o->make_cell != NULL ? "given" : "NULL");
    return IMREC_OK;
}

static enum imrec_status no_memory(const struct imrec_prefetch *p, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for %u cells of the prefetcher", (unsigned)p->count);
}

static enum imrec_status make_own_cells(struct imrec_prefetch *p, struct imrec_error *err)
{
    if (p->o.cell_bytes > SIZE_MAX / p->count - ALIGN)
        return no_memory(p, err);
    const size_t stride = align_up((size_t)p->o.cell_bytes, ALIGN);
    p->memory_bytes = stride * p->count;
    p->memory = pages_alloc(p->memory_bytes);
    if (p->memory == NULL)
        return no_memory(p, err);
    for (uint32_t i = 0; i < p->count; i++)
        p->cells[i].memory = p->memory + i * stride;
    return IMREC_OK;
}

static enum imrec_status make_cells(struct imrec_prefetch *p, struct imrec_error *err)
{
    p->cells = imrec_zalloc(p->count, sizeof(*p->cells));
    if (p->cells == NULL)
        return no_memory(p, err);
    if (p->o.make_cell == NULL)
        return make_own_cells(p, err);
    for (uint32_t i = 0; i < p->count; i++) {
        p->cells[i].memory = p->o.make_cell(p->o.context);
        if (p->cells[i].memory == NULL)
            return no_memory(p, err);
    }
    return IMREC_OK;
}

static enum imrec_status start(struct imrec_prefetch *p, struct imrec_error *err)
{
    p->count = p->o.depth + 1;
    IMREC_TRY(ring_init(&p->ring, p->count, err));
    IMREC_TRY(make_cells(p, err));
    p->threads = imrec_zalloc(p->o.threads, sizeof(*p->threads));
    if (p->threads == NULL)
        return no_memory(p, err);
    for (uint32_t i = 0; i < p->o.threads; i++)
        IMREC_TRY(thread_start(&p->threads[i], "imrec-prefetch", run, p, err));
    return IMREC_OK;
}

enum imrec_status imrec_prefetch_open(const struct imrec_prefetch_options *options,
                                      struct imrec_prefetch **out, struct imrec_error *err)
{
    struct imrec_prefetch_options o;
    *out = NULL;
    imrec_prefetch_options_init(&o);
    IMREC_TRY(sized_copy(&o, sizeof(o), options, "imrec_prefetch_options_init", err));
    IMREC_TRY(check(&o, err));
    struct imrec_prefetch *p = imrec_zalloc(1, sizeof(*p));
    if (p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the prefetcher");
    p->o = o;
    const enum imrec_status status = start(p, err);
    if (status != IMREC_OK) {
        imrec_prefetch_close(p);
        return status;
    }
    *out = p;
    return IMREC_OK;
}

/* ---- the consumer ------------------------------------------------------------------------ */

void imrec_prefetch_recycle(struct imrec_prefetch *p)
{
    if (p->held)
        ring_recycle(&p->ring);
    p->held = false;
}

static enum imrec_status take(struct imrec_prefetch *p, uint64_t *number, struct imrec_error *err)
{
    const uint64_t from = clock_ns();
    const enum imrec_status status = ring_take(&p->ring, number);
    atomic_fetch_add(&p->next_wait_ns, clock_ns() - from);
    if (status != IMREC_OK)
        return imrec_fail(err, status, "the prefetcher was cancelled");
    p->held = true;
    return IMREC_OK;
}

enum imrec_status imrec_prefetch_next(struct imrec_prefetch *p, void **cell, uint64_t *number,
                                      struct imrec_error *err)
{
    uint64_t n;
    *cell = NULL;
    if (p->ended)
        return IMREC_END;
    imrec_prefetch_recycle(p);
    IMREC_TRY(take(p, &n, err));
    const struct cell *c = &p->cells[n % p->count];
    if (c->status == IMREC_END) {
        p->ended = true;
        return IMREC_END;
    }
    if (number != NULL)
        *number = n;
    if (c->status != IMREC_OK) {
        atomic_fetch_add(&p->failed, 1);
        if (err != NULL)
            *err = c->error;
        return c->status;
    }
    atomic_fetch_add(&p->delivered, 1);
    *cell = c->memory;
    return IMREC_OK;
}

void imrec_prefetch_cancel(struct imrec_prefetch *p)
{
    ring_cancel(&p->ring);
}

void imrec_prefetch_get_stats(struct imrec_prefetch *p, struct imrec_prefetch_stats *out)
{
    *out = (struct imrec_prefetch_stats){.produced = atomic_load(&p->produced),
                                         .delivered = atomic_load(&p->delivered),
                                         .failed = atomic_load(&p->failed),
                                         .producer_wait_ns = atomic_load(&p->producer_wait_ns),
                                         .next_wait_ns = atomic_load(&p->next_wait_ns)};
}

static void free_cells(struct imrec_prefetch *p)
{
    for (uint32_t i = 0; p->cells != NULL && p->o.free_cell != NULL && i < p->count; i++)
        if (p->o.make_cell != NULL && p->cells[i].memory != NULL)
            p->o.free_cell(p->o.context, p->cells[i].memory);
    pages_free(p->memory, p->memory_bytes);
    imrec_free(p->cells);
}

void imrec_prefetch_close(struct imrec_prefetch *p)
{
    if (p == NULL)
        return;
    if (p->threads != NULL)
        ring_cancel(&p->ring);
    for (uint32_t i = 0; p->threads != NULL && i < p->o.threads; i++)
        thread_join(&p->threads[i]);
    imrec_free(p->threads);
    free_cells(p);
    ring_destroy(&p->ring);
    imrec_free(p);
}
