/*
 * im2rec/pack_run.c - images in parallel, in order: list -> workers in a bounded window -> put().
 *
 * A worker takes the next image of the list, one worker at a time, then reads, decodes and encodes
 * it into its place of the window. Places are drained in the order of the list, whichever worker
 * was faster; no thread is set aside for it. imrec_pack_items() asks its source in feed, which may
 * be slow: only workers without an image wait for it.
 */
#include "im2rec/pack_run.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/jpeg_encode.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/packer.h"
#include "im2rec/item/read_file.h"
#include "parallel/ordered.h"
#include "parallel/workers.h"

#define WINDOW_LEAST      128u /* places; an image that takes long holds up no more than these */
#define WINDOW_PER_WORKER 32u
#define AHEAD_MOST        ((uint64_t)64 << 20)

/* ---- the window ------------------------------------------------------------------------- */

static enum imrec_status fill(struct pack_run *r, struct packer *k, uint64_t index,
                              struct pack_item *p, struct imrec_error *err)
{
    if (r->items != NULL)
        return items_next(r->items, k, index, p, err);
    IMREC_TRY(ahead_next(&r->ahead, p, err));
    p->outcome.index = index;
    return IMREC_OK;
}

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct pack_run *r = context;
    r->cancelled = stop_asked(&r->watch->stop);
    if (r->cancelled)
        return ORDERED_STOP; /* what is in flight is still written */
    const enum imrec_status st =
        fill(r, r->packers[worker], atomic_load(&r->next), &r->places[t->place], &r->error);
    if (st == IMREC_OK) {
        atomic_fetch_add(&r->next, 1);
        return ORDERED_LAST;
    }
    r->exhausted = st == IMREC_END;
    r->status = r->exhausted ? IMREC_OK : st;
    return ORDERED_STOP;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct pack_run *r = context;
    struct pack_item *p = &r->places[t->place];
    if (p->outcome.reason == REASON_NONE && p->failed == IMREC_OK)
        packer_run(r->packers[worker], p);
    else
        p->record.n = 0;
    pack_item_unfetch(p);
}

static void tell(struct pack_run *r, const struct pack_item *p)
{
    r->progress.done = r->sample == 0 ? r->written : 0;
    r->progress.found = r->items != NULL && r->sample == 0 ? pack_run_images(r) : 0;
    r->progress.skipped += r->sample == 0 && p->outcome.reason != REASON_NONE;
    r->progress.bytes += r->sample == 0 ? p->outcome.file_bytes : 0;
    (void)watch_tell(r->watch, &r->progress); /* feed asks whether that was a no */
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct pack_run *r = context;
    struct pack_item *p = &r->places[place];
    const enum imrec_status st = p->failed != IMREC_OK ? imrec_fail(err, p->failed, "%s", p->why)
                                 : r->sample == 0      ? r->put(r->user, p, err)
                                                       : IMREC_OK;
    if (st != IMREC_OK) {
        budget_stop(&r->budget); /* others may wait for it */
        return st;
    }
    pack_item_written(p);
    r->written++;
    budget_written(&r->budget, &p->share);
    tell(r, p);
    return IMREC_OK;
}

/* A worker that waits for a place is woken when half of the window is empty, not for every place.
 */
static enum imrec_status run_workers(struct pack_run *r, struct imrec_error *err)
{
    const struct ordered_options o = {.context = r,
                                      .feed = feed,
                                      .work = work,
                                      .drain = drain,
                                      .tasks = 1,
                                      .places = r->window,
                                      .workers = r->workers,
                                      .wake_at = r->window / 2,
                                      .name = "threads"};
    IMREC_TRY(ordered_run(&o, err));
    if (r->status != IMREC_OK && err != NULL)
        *err = r->error;
    return r->status;
}

/* ---- a run ------------------------------------------------------------------------------ */

/* Bytes that are only passed through are bound by the system's copies: next to the one thread that
 * writes, more than two readers slow each other down. */
static uint32_t few_workers(const struct imrec_pack_options *o, uint32_t workers)
{
    const bool few = o->pass_through && o->check != IMREC_CHECK_DECODE && !pack_options_rewrites(o);
    return few && workers > 2 ? 2 : workers;
}

/* One more where what is written goes to a store: a worker that waits for its answers, as at each
 * mark, leaves no CPU idle. */
static uint32_t workers_for(const struct pack_run *r)
{
    const uint32_t workers = workers_count(r->o->threads);
    if (r->o->threads > 0)
        return workers;
    return few_workers(r->o, workers) + r->to_store;
}

/* Of images in stores; in addition to what is in work. */
static uint64_t ahead_bytes(const struct imrec_pack_options *o)
{
    const uint64_t share = (uint64_t)o->memory / 16;
    return share < AHEAD_MOST ? share : AHEAD_MOST;
}

static enum imrec_status prepare(struct pack_run *r, struct imrec_error *err)
{
    r->workers = workers_for(r);
    r->window = WINDOW_PER_WORKER * r->workers;
    if (r->window < WINDOW_LEAST)
        r->window = WINDOW_LEAST;
    r->places = imrec_zalloc(r->window, sizeof(*r->places));
    r->packers = imrec_zalloc(r->workers, sizeof(struct packer *));
    r->counted = imrec_zalloc(r->sample != 0 ? r->workers : 1, sizeof(*r->counted));
    r->ahead = (struct ahead){
        .job = r->job, .root = r->root, .limit = ahead_bytes(r->o), .sample = r->sample};
    if (r->places == NULL || r->packers == NULL || r->counted == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u workers", r->workers);
    struct packer_options po = {.all = r->o,
                                .of_pixels = r->items != NULL ? &r->items->of_pixels : NULL,
                                .root = r->root,
                                .budget = &r->budget,
                                .tables = r->tables};
    for (uint32_t i = 0; i < r->workers; i++) {
        po.counts = r->sample != 0 ? &r->counted[i] : NULL;
        IMREC_TRY(packer_new(&po, &r->packers[i], err));
    }
    return IMREC_OK;
}

static void sum_up(struct pack_run *r)
{
    for (uint32_t i = 0; r->sample != 0 && i < r->workers; i++)
        for (uint32_t k = 0; k < WORD_SYMBOLS; k++)
            r->counts->of[k] += r->counted[i].of[k];
}

static void release(struct pack_run *r)
{
    for (uint32_t i = 0; r->places != NULL && i < r->window; i++)
        pack_item_free(&r->places[i]);
    for (uint32_t i = 0; r->packers != NULL && i < r->workers; i++)
        packer_free(r->packers[i]);
    ahead_end(&r->ahead);
    IMREC_FREE(r->places, r->packers, r->counted);
    r->places = NULL;
    r->packers = NULL;
    r->counted = NULL;
}

/* Passes over what earlier runs have done. */
static enum imrec_status pass_over(struct pack_run *r, struct imrec_error *err)
{
    struct pack_item p = {0};
    enum imrec_status st = IMREC_OK;
    for (uint64_t i = 0; i < r->done && st == IMREC_OK; i++)
        if ((st = stop_check(&r->watch->stop, err)) == IMREC_OK)
            st = job_next(r->job, &p, err);
    pack_item_free(&p);
    atomic_store(&r->next, r->first + r->done);
    r->written = r->progress.done = r->progress.resumed = r->done;
    r->budget.oldest = r->first + r->done;
    return st;
}

static enum imrec_status run_all(struct pack_run *r, struct imrec_error *err)
{
    IMREC_TRY(prepare(r, err));
    IMREC_TRY(pass_over(r, err));
    IMREC_TRY(run_workers(r, err));
    const bool open_ended = r->items != NULL || r->sample != 0;
    if (r->cancelled && (open_ended ? !r->exhausted : r->written < r->progress.total))
        return stop_error(err);
    sum_up(r);
    return IMREC_OK;
}

enum imrec_status pack_run(struct pack_run *r, struct imrec_error *err)
{
    budget_init(&r->budget, (uint64_t)r->o->memory);
    const enum imrec_status st = run_all(r, err);
    release(r);
    budget_destroy(&r->budget);
    return st;
}

uint64_t pack_run_images(const struct pack_run *r)
{
    return atomic_load(&r->next) - r->first;
}
