/* iter/mosaics.c - slots that show four samples (rand_mosaic_prob): the slot's own, and three
 * others of its window.
 *
 * Which ones is drawn by the key of the own sample, among the records of a window that depends on
 * data, seed and options alone; the worker holds it while it works. */
#include "base/error.h"
#include "base/rng.h"
#include "iter/state.h"

#include <string.h>

struct tile {
    struct sample_key key;
    struct det_label label;
};

/* One sample of the mosaic: m->tile, and its label in m->row. */
static enum imrec_status make_tile(struct imrec_iter *it, struct worker *w,
                                   const struct record_ref *ref, void *context,
                                   struct imrec_error *err)
{
    struct tile *tile = context;
    struct record r;
    IMREC_TRY(iter_parse(it, ref, w, &r, err));
    IMREC_TRY(iter_take_boxes(it, &r, w->mosaic.row, w->mosaic.row_numbers, &tile->label, err));
    w->mosaic.sampler.mask_png = w->sampler.mask_png;
    return mosaic_make_tile(&w->mosaic, r.image, &r.pixels, tile->key, err);
}

/* What is no fault of a record, and would be that of the next one, too. */
static bool is_general(enum imrec_status st)
{
    return st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED;
}

/* Any record of the window but the ticket's own, unless it has no other. */
static uint64_t choose(const struct ticket *t, uint64_t bits)
{
    const uint64_t count = t->window->count, own = (uint64_t)(t->record - t->window->records);
    return count > 1 ? (own + 1 + rng_below(bits, count - 1)) % count : own;
}

enum imrec_status iter_make_partner(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                                    const struct partner *p, uint64_t bits, struct imrec_error *err)
{
    const struct window *all = t->window;
    const uint64_t chosen = choose(t, bits);
    enum imrec_status st = IMREC_ERR_DATA;
    for (uint64_t i = 0; i < all->count && i < IMREC_REPLACE_TRIES; i++) {
        const struct record_ref *ref = &all->records[(chosen + i) % all->count];
        if (ref->lost)
            continue;
        st = p->make(it, w, ref, p->context, err);
        if (st == IMREC_OK || is_general(st))
            return st;
    }
    return imrec_fail(
        err, IMREC_ERR_DATA, "of %llu samples of its window none can be %s",
        (unsigned long long)(all->count < IMREC_REPLACE_TRIES ? all->count : IMREC_REPLACE_TRIES),
        p->what);
}

static enum imrec_status make_canvas(struct imrec_iter *it, const struct ticket *t,
                                     struct worker *w, struct sample_key key,
                                     const struct mosaic_draw *d, struct imrec_error *err)
{
    struct tile tile = {.key = key};
    const struct partner p = {make_tile, &tile, "in its mosaic"};
    IMREC_TRY(make_tile(it, w, t->record, &tile, err));
    IMREC_TRY(mosaic_add_tile(&w->mosaic, 0, &tile.label, err));
    for (uint32_t i = 1; i < MOSAIC_TILES; i++) {
        IMREC_TRY(iter_make_partner(it, t, w, &p, d->partner[i - 1], err));
        IMREC_TRY(mosaic_add_tile(&w->mosaic, i, &tile.label, err));
    }
    return IMREC_OK;
}

/* The label of the canvas, moved, into the slot's row. */
static enum imrec_status
take_label(const struct imrec_iter *it, struct sampler_view *v, float *row, struct imrec_error *err)
{
    const uint32_t room = it->slots.label_width - DET_LABEL_HEAD;
    if (v->label.n > room)
        return imrec_fail(
            err, IMREC_ERR_DATA,
            "its mosaic has %u boxes, a label of %u values, but label_pad_width is %u",
            det_label_count(&v->label), v->label.n, room);
    memcpy(row + DET_LABEL_HEAD, v->label.values, v->label.n * sizeof(*row));
    v->label.values = row + DET_LABEL_HEAD;
    return IMREC_OK;
}

enum imrec_status iter_make_mosaic(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                                   struct sampler *s, struct sampler_view *v,
                                   const struct mosaic_draw *d, struct imrec_error *err)
{
    struct mosaic_sampler *m = &w->mosaic;
    struct imrec_image_info info;
    float *row = v->label.values - DET_LABEL_HEAD; /* of the slot */
    mosaic_begin(m, d, v->kind, it->recipe.keypoints, &v->label);
    IMREC_TRY(make_canvas(it, t, w, v->sample.key, d, err));
    if (m->label.numbers != NULL)
        IMREC_TRY(objects_check(&it->augment, &m->label, "its mosaic", err));
    v->mosaic = d;
    v->canvas_mask = m->tile_mask != NULL ? &m->mask : NULL;
    v->label = m->label;
    s->mask_png = (struct bytes){NULL, 0};
    IMREC_TRY(sampler_look_at_pixels(s, &m->canvas.view, &info, err));
    IMREC_TRY(sampler_make_seen(s, &info, v, 1, err));
    return take_label(it, v, row, err);
}
