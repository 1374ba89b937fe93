/* iter/scenes.c - slots that show more than their own sample: mosaics (rand_mosaic_prob), and
 * objects of another sample pasted into them (rand_copy_paste_prob). */
#include "base/error.h"
#include "iter/state.h"

/* ---- copy-paste --------------------------------------------------------------------------- */

/* An image of bytes; its mask is w->sampler's. */
static enum imrec_status make_moved(struct worker *w, const struct record *r,
                                    struct sampler_view *v, struct imrec_error *err)
{
    struct sampler *s = &w->paste.sampler;
    s->mask_png = w->sampler.mask_png;
    return sampler_make_either(s, r->image, &r->pixels, v, 1, err);
}

static void note_times(struct worker *w, const struct sampler *s)
{
    w->mosaic.decode_ns += s->decode_ns;
    w->mosaic.augment_ns += s->augment_ns;
}

/* The slot's own sample, or a mosaic of it, as an image of bytes: w->paste.own. */
static enum imrec_status make_own(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                                  const struct sampler_view *v, struct imrec_draw *draw,
                                  struct imrec_error *err)
{
    struct paste_sampler *p = &w->paste;
    struct sampler_view own;
    struct mosaic_draw d;
    struct record r;
    paste_view(p, v, &p->own, &own);
    if (mosaic_draw(recipe_of(&w->sampler, v), v->sample.key, &d)) {
        IMREC_TRY(iter_make_mosaic(it, t, w, &p->sampler, &own, &d, err));
    } else {
        IMREC_TRY(iter_parse(it, t->record, w, &r, err));
        IMREC_TRY(make_moved(w, &r, &own, err));
    }
    note_times(w, &p->sampler);
    paste_view_made(&own, &p->own);
    *draw = own.draw;
    return IMREC_OK;
}

/* Another sample, likewise: w->paste.partner. */
static enum imrec_status make_partner(struct imrec_iter *it, struct worker *w,
                                      const struct record_ref *ref, void *context,
                                      struct imrec_error *err)
{
    const struct sampler_view *v = context;
    struct paste_sampler *p = &w->paste;
    struct sampler_view view;
    struct record r;
    IMREC_TRY(iter_parse(it, ref, w, &r, err));
    paste_view(p, v, &p->partner, &view);
    IMREC_TRY(iter_take_boxes(it, &r, p->row, p->numbers, &view.label, err));
    view.place = NULL;
    view.sample.key = paste_key(v->sample.key);
    IMREC_TRY(make_moved(w, &r, &view, err));
    note_times(w, &p->sampler);
    paste_view_made(&view, &p->partner);
    return IMREC_OK;
}

static enum imrec_status make_paste(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                                    struct sampler_view *v, const struct paste_draw *d,
                                    struct imrec_error *err)
{
    struct paste_sampler *p = &w->paste;
    const struct recipe *r = recipe_of(&w->sampler, v);
    const struct partner partner = {make_partner, v, "where objects to paste come from"};
    const uint32_t room = it->slots.label_width - DET_LABEL_HEAD;
    struct imrec_draw moved;
    uint32_t pasted;
    IMREC_TRY(make_own(it, t, w, v, &moved, err));
    IMREC_TRY(iter_make_partner(it, t, w, &partner, d->partner, err));
    IMREC_TRY(paste_chosen(p, r, v->sample.key, d, room, &pasted, err));
    v->label = p->own.label;
    IMREC_TRY(paste_finish(p, &w->sampler, v, &moved, err));
    v->draw.pasted = pasted;
    v->draw.boxes = det_label_count(&v->label);
    return IMREC_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

static bool is_alone(const struct recipe *r, struct sample_key key)
{
    struct mosaic_draw mosaic;
    struct paste_draw paste;
    return !mosaic_draw(r, key, &mosaic) && !paste_draw(r, key, &paste);
}

static enum imrec_status make_composed(struct imrec_iter *it, const struct ticket *t,
                                       struct worker *w, struct sampler_view *v,
                                       struct imrec_error *err)
{
    const struct recipe *r = recipe_of(&w->sampler, v);
    struct mosaic_draw mosaic;
    struct paste_draw paste;
    if (paste_draw(r, v->sample.key, &paste))
        return make_paste(it, t, w, v, &paste, err);
    return mosaic_draw(r, v->sample.key, &mosaic)
               ? iter_make_mosaic(it, t, w, &w->sampler, v, &mosaic, err)
               : IMREC_OK;
}

enum imrec_status iter_make_scenes(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                                   const struct record *r, uint32_t n, struct imrec_error *err)
{
    w->mosaic.decode_ns = w->mosaic.augment_ns = 0; /* of all that are made for the sample */
    for (uint32_t i = 0; i < n; i++) {              /* while *r is valid */
        struct sampler_view *v = &w->views[i];
        if (!is_alone(recipe_of(&w->sampler, v), v->sample.key))
            continue;
        IMREC_TRY(sampler_make_either(&w->sampler, r->image, &r->pixels, v, 1, err));
        note_times(w, &w->sampler);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct sampler_view *v = &w->views[i];
        if (is_alone(recipe_of(&w->sampler, v), v->sample.key))
            continue;
        IMREC_TRY(make_composed(it, t, w, v, err));
        note_times(w, &w->sampler);
    }
    w->sampler.decode_ns = w->mosaic.decode_ns;
    w->sampler.augment_ns = w->mosaic.augment_ns;
    return IMREC_OK;
}
