/*
 * im2rec/reshape/tiling.c - JPEGs of records coded again in tiles, on many threads, in order.
 *
 * Records are read by one worker at a time, coded by all, and written by one at a time. A record
 * waits in a place of its own, which holds its bytes before and after.
 */
#include "im2rec/reshape/tiling.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/jpeg_encode.h"
#include "dataset/dataset_check.h"
#include "im2rec/item/budget.h"
#include "parallel/ordered.h"
#include "parallel/workers.h"

#include <string.h>

enum {
    PLACES_A_WORKER = 3,
    KEPT_BYTES = 4 << 20, /* of a codec, and of a place's records, between images */
};
#define RECORD_MAX ((size_t)1 << 29)

struct place {
    struct buf record, labels, path; /* copies */
    struct buf tiled;                /* the record with the other image */
    struct tiling_record r;
    bool is_tiled;
    uint64_t index; /* of the record, from 0 */
    struct budget_share share;
    enum imrec_status st;
    struct imrec_error err;
};

struct run {
    const struct tiling *t;
    struct place *place;
    uint32_t places;
    struct codec **codec; /* of each worker */
    uint32_t workers;
    uint64_t next; /* index of the next record */
    struct budget budget;
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
    p->index = run->next++;
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

/* Reads the header, with room for what that holds and for `more`. *begun false: it cannot be read,
 * or is too large. */
static enum imrec_status begin_image(struct run *run, struct codec *c, struct place *p,
                                     struct budget_need more, bool *begun, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = CHECK_MAX_PIXELS};
    const struct bytes image = {p->record.p + p->r.image_at, p->r.image_size};
    struct imrec_image_info info;
    *begun = false;
    more.work += codec_begin_claim(image);
    if (more.work > budget_most(run->t->memory))
        return IMREC_OK;
    budget_drop(&run->budget, &p->share);
    if (!budget_take(&run->budget, &p->share, p->index, more))
        return stop_error(err); /* an older record has ended the run */
    const enum imrec_status st = codec_begin(c, image, &limits, &info, err);
    *begun = st == IMREC_OK;
    return st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED ? st : IMREC_OK;
}

/* The image is begun, and there is room for coding it: at once, or when it has given back what it
 * holds and has waited. */
static enum imrec_status begin_tiling(struct run *run, struct codec *c, struct place *p,
                                      bool *begun, struct imrec_error *err)
{
    IMREC_TRY(begin_image(run, c, p, (struct budget_need){0, 0}, begun, err));
    if (!*begun)
        return IMREC_OK;
    const uint64_t most = codec_tile_jpeg_most(c);
    const struct budget_need need = {codec_tile_jpeg_claim(c) + most, most};
    const struct budget_need both = {p->share.has.work + need.work, need.record};
    if (budget_try(&run->budget, &p->share, p->index, both))
        return IMREC_OK;
    codec_trim(c, 0);
    return begin_image(run, c, p, need, begun, err);
}

/* An image that cannot be read, or is too large, stays as it is. */
static enum imrec_status
tile(struct run *run, struct codec *c, struct place *p, struct imrec_error *err)
{
    struct bytes tiled;
    bool begun;
    IMREC_TRY(begin_tiling(run, c, p, &begun, err));
    if (!begun)
        return IMREC_OK;
    IMREC_TRY(codec_tile_jpeg(c, &p->is_tiled, &tiled, err));
    return p->is_tiled ? join(p, tiled, err) : IMREC_OK;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    struct run *run = context;
    struct place *p = &run->place[t->place];
    if (p->st == IMREC_OK)
        p->st = tile(run, run->codec[worker], p, &p->err);
    codec_trim(run->codec[worker], KEPT_BYTES);
    budget_finish(&run->budget, &p->share, p->index, p->is_tiled ? p->tiled.n : 0);
}

static void trim(struct buf *b)
{
    if (b->cap > KEPT_BYTES)
        buf_free(b);
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    struct run *run = context;
    struct place *p = &run->place[place];
    enum imrec_status st = p->st;
    if (st == IMREC_OK)
        st = run->t->put(run->t->context, &p->r, p->is_tiled, err);
    else if (err != NULL)
        *err = p->err;
    trim(&p->record);
    trim(&p->tiled);
    budget_written(&run->budget, &p->share);
    if (st != IMREC_OK)
        budget_stop(&run->budget); /* younger ones may be waiting */
    return st;
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
        codec_share_tables(run->codec[i], run->t->tables);
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
    budget_init(&run.budget, t->memory);
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
    budget_destroy(&run.budget);
    return st;
}
