/* iter/mosaics.c - slots that show four samples (rand_mosaic_prob): the slot's own, and three
 * others of its window.
 *
 * Which ones is drawn by the key of the own sample, among the records of a window that depends on
 * data, seed and options alone; the worker holds it while it works. */
#include "base/error.h"
#include "base/rng.h"
#include "iter/state.h"

#include <string.h>

/* One sample of the mosaic: m->tile, and its label in m->row. */
static enum imrec_status make_tile(struct imrec_iter *it, struct worker *w,
                                   const struct record_ref *ref, struct sample_key key,
                                   struct det_label *label, struct imrec_error *err)
{
    struct record r;
    IMREC_TRY(iter_parse(it, ref, w, &r, err));
    IMREC_TRY(iter_take_boxes(it, &r, w->mosaic.row, w->mosaic.row_numbers, label, err));
    w->mosaic.sampler.mask_png = w->sampler.mask_png;
    return mosaic_make_tile(&w->mosaic, r.image, &r.pixels, key, err);
}

/* What is no fault of a record, and would be that of the next one, too. */
static bool is_general(enum imrec_status st)
{
    return st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED;
}

/* The chosen record, or, as it cannot be made, the next one of the window that can: the same one
 * whatever other threads have found out. It is reported where it is a sample of its own. */
static enum imrec_status make_partner(struct imrec_iter *it, const struct ticket *t,
                                      struct worker *w, uint64_t chosen, struct sample_key key,
                                      struct det_label *label, struct imrec_error *err)
{
    const struct window *all = t->window;
    enum imrec_status st = IMREC_ERR_DATA;
    for (uint64_t i = 0; i < all->count && i < IMREC_REPLACE_TRIES; i++) {
        const struct record_ref *ref = &all->records[(chosen + i) % all->count];
        if (ref->lost)
            continue;
        st = make_tile(it, w, ref, key, label, err);
        if (st == IMREC_OK || is_general(st))
            return st;
    }
    return imrec_fail(
        err, IMREC_ERR_DATA, "of %llu samples of its window none can be in its mosaic",
        (unsigned long long)(all->count < IMREC_REPLACE_TRIES ? all->count : IMREC_REPLACE_TRIES));
}

/* Any record of the window but the ticket's own, unless it has no other. */
static uint64_t choose(const struct ticket *t, uint64_t bits)
{
    const uint64_t count = t->window->count, own = (uint64_t)(t->record - t->window->records);
    return count > 1 ? (own + 1 + rng_below(bits, count - 1)) % count : own;
}

static enum imrec_status make_canvas(struct imrec_iter *it, const struct ticket *t,
                                     struct worker *w, struct sample_key key,
                                     const struct mosaic_draw *d, struct imrec_error *err)
{
    struct det_label label;
    IMREC_TRY(make_tile(it, w, t->record, key, &label, err));
    IMREC_TRY(mosaic_add_tile(&w->mosaic, 0, &label, err));
    for (uint32_t i = 1; i < MOSAIC_TILES; i++) {
        const uint64_t chosen = choose(t, d->partner[i - 1]);
        IMREC_TRY(make_partner(it, t, w, chosen, key, &label, err));
        IMREC_TRY(mosaic_add_tile(&w->mosaic, i, &label, err));
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

static enum imrec_status make_mosaic(struct imrec_iter *it, const struct ticket *t,
                                     struct worker *w, struct sampler_view *v,
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
    w->sampler.mask_png = (struct bytes){NULL, 0};
    IMREC_TRY(sampler_look_at_pixels(&w->sampler, &m->canvas.view, &info, err));
    IMREC_TRY(sampler_make_seen(&w->sampler, &info, v, 1, err));
    return take_label(it, v, row, err);
}

static void note_times(struct worker *w)
{
    w->mosaic.decode_ns += w->sampler.decode_ns;
    w->mosaic.augment_ns += w->sampler.augment_ns;
}

enum imrec_status iter_make_mosaics(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                                    const struct record *r, uint32_t n, struct imrec_error *err)
{
    struct mosaic_draw d;
    w->mosaic.decode_ns = w->mosaic.augment_ns = 0;
    for (uint32_t i = 0; i < n; i++) { /* while *r is valid */
        struct sampler_view *v = &w->views[i];
        if (mosaic_draw(recipe_of(&w->sampler, v), v->sample.key, &d))
            continue;
        IMREC_TRY(r->pixels.p == NULL ? sampler_make(&w->sampler, r->image, v, 1, err)
                                      : sampler_make_decoded(&w->sampler, &r->pixels, v, 1, err));
        note_times(w);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct sampler_view *v = &w->views[i];
        if (!mosaic_draw(recipe_of(&w->sampler, v), v->sample.key, &d))
            continue;
        IMREC_TRY(make_mosaic(it, t, w, v, &d, err));
        note_times(w);
    }
    w->sampler.decode_ns = w->mosaic.decode_ns;
    w->sampler.augment_ns = w->mosaic.augment_ns;
    return IMREC_OK;
}
