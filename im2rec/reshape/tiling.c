/*
 * im2rec/reshape/tiling.c - JPEGs of records coded again in tiles, on many threads, in order.
 *
 * Records are read by one worker at a time, coded by all, and written by one at a time. A record
 * waits in a place of its own, which holds its bytes before and after.
 */
#include "im2rec/reshape/tiling.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/codec.h"
#include "dataset/dataset_check.h"
#include "parallel/ordered.h"
#include "parallel/workers.h"

#include <string.h>

enum { PLACES_A_WORKER = 3 };
#define RECORD_MAX ((size_t)1 << 29)

struct place {
    struct buf record, labels, path; /* copies */
    struct buf tiled;                /* the record with the other image */
    struct tiling_record r;
    bool is_tiled;
    enum imrec_status st;
    struct imrec_error err;
};

struct run {
    const struct tiling *t;
    struct place *place;
    uint32_t places;
    struct codec **codec; /* of each worker */
    uint32_t workers;
};

/* ---- reading ------------------------------------------------------------------------------ */

static enum imrec_status copy(struct buf *to, const void *p, size_t n, struct imrec_error *err)
{
    to->n = 0;
    return buf_append(to, p, n, err);
}

/* The reader's memory lasts until its next record. */
static enum imrec_status keep(struct place *p, struct imrec_error *err)
{
    struct set_out_record *to = &p->r.to;
    IMREC_TRY(copy(&p->record, to->record.p, to->record.n, err));
    IMREC_TRY(copy(&p->labels, to->labels, to->label_count * sizeof(*to->labels), err));
    IMREC_TRY(copy(&p->path, to->path, strlen(to->path) + 1, err));
    to->record = (struct bytes){p->record.p, p->record.n};
    to->labels = (const float *)(const void *)p->labels.p;
    to->path = (const char *)p->path.p;
    to->framed = (struct bytes){NULL, 0};
    return IMREC_OK;
}

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct run *run = context;
    struct place *p = &run->place[t->place];
    (void)worker;
    p->is_tiled = false;
    p->st = run->t->next(run->t->context, &p->r, &p->err);
    if (p->st == IMREC_END)
        return ORDERED_STOP;
    if (p->st == IMREC_OK)
        p->st = keep(p, &p->err);
    return ORDERED_LAST; /* after an error drain ends the run */
}

/* ---- coding ------------------------------------------------------------------------------- */

/* The record around another image. */
static enum imrec_status join(struct place *p, struct bytes image, struct imrec_error *err)
{
    const size_t end = p->r.image_at + p->r.image_size;
    p->tiled.n = 0;
    IMREC_TRY(buf_append(&p->tiled, p->record.p, p->r.image_at, err));
    IMREC_TRY(buf_append(&p->tiled, image.p, image.n, err));
    IMREC_TRY(buf_append(&p->tiled, p->record.p + end, p->record.n - end, err));
    p->r.to.record = (struct bytes){p->tiled.p, p->tiled.n};
    return IMREC_OK;
}

/* An image that cannot be read, or is too large, stays as it is. */
static enum imrec_status tile(struct codec *c, struct place *p, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = CHECK_MAX_PIXELS};
    const struct bytes image = {p->record.p + p->r.image_at, p->r.image_size};
    struct imrec_image_info info;
    struct bytes tiled;
    const enum imrec_status st = codec_begin(c, image, &limits, &info, err);
    if (st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED)
        return st;
    if (st != IMREC_OK)
        return IMREC_OK;
    IMREC_TRY(codec_tile_jpeg(c, &p->is_tiled, &tiled, err));
    return p->is_tiled ? join(p, tiled, err) : IMREC_OK;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct run *run = context;
    struct place *p = &run->place[t->place];
    if (p->st == IMREC_OK)
        p->st = tile(run->codec[worker], p, &p->err);
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct run *run = context;
    struct place *p = &run->place[place];
    if (p->st == IMREC_OK)
        return run->t->put(run->t->context, &p->r, p->is_tiled, err);
    if (err != NULL)
        *err = p->err;
    return p->st;
}

/* ---- a run -------------------------------------------------------------------------------- */

static enum imrec_status begin(struct run *run, struct imrec_error *err)
{
    run->place = imrec_zalloc(run->places, sizeof(*run->place));
    run->codec = imrec_zalloc(run->workers, sizeof(*run->codec));
    if (run->place == NULL || run->codec == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u threads", run->workers);
    for (uint32_t i = 0; i < run->places; i++) {
        struct place *p = &run->place[i];
        p->record = p->labels = p->path = p->tiled = BUF_INIT(RECORD_MAX);
    }
    for (uint32_t i = 0; i < run->workers; i++) {
        IMREC_TRY(codec_new(&run->codec[i], err));
        codec_stop_with(run->codec[i], run->t->stop);
    }
    return IMREC_OK;
}

static void end(struct run *run)
{
    for (uint32_t i = 0; run->codec != NULL && i < run->workers; i++)
        codec_free(run->codec[i]);
    for (uint32_t i = 0; run->place != NULL && i < run->places; i++) {
        struct place *p = &run->place[i];
        buf_free(&p->record);
        buf_free(&p->labels);
        buf_free(&p->path);
        buf_free(&p->tiled);
    }
    IMREC_FREE(run->place, run->codec);
}

enum imrec_status tiling_run(const struct tiling *t, struct imrec_error *err)
{
    struct run run = {.t = t, .workers = workers_count(t->threads)};
    run.places = PLACES_A_WORKER * run.workers;
    enum imrec_status st = begin(&run, err);
    if (st == IMREC_OK)
        st = ordered_run(&(struct ordered_options){.context = &run,
                                                   .feed = feed,
                                                   .work = work,
                                                   .drain = drain,
                                                   .tasks = 1,
                                                   .places = run.places,
                                                   .workers = run.workers,
                                                   .name = "threads"},
                         err);
    end(&run);
    return st;
}
