/* iter/sample/paste_sampler.c - two images of bytes: moved, one pasted into the other, and painted
 * into the slot. */
#include "iter/sample/paste_sampler.h"

#include "base/alloc.h"
#include "base/error.h"

/* ---- life --------------------------------------------------------------------------------- */

uint64_t paste_sampler_bytes(const struct view_kinds *moves, uint32_t label_room)
{
    enum { IMAGES = 2 };
    if (moves->kind_count == 0)
        return 0;
    const uint64_t value = moves->kinds[0].o.data_shape.channels + sizeof(uint16_t);
    return IMAGES * view_kinds_most_pixels(moves) * value + (uint64_t)label_room * sizeof(float) +
           label_room / 5 * sizeof(uint32_t);
}

static enum imrec_status
make_image(struct paste_image *p, const struct view_kinds *moves, struct imrec_error *err)
{
    p->pixels =
        imrec_realloc(NULL, view_kinds_most_pixels(moves), moves->kinds[0].o.data_shape.channels);
    if (p->pixels == NULL)
        return IMREC_NO_MEMORY(err, "no memory for images that are pasted");
    for (uint32_t i = 0; i < moves->kind_count; i++) {
        const struct imrec_shape *s = &moves->kinds[i].o.data_shape;
        IMREC_TRY(mask_resize_buffer(&p->mask, s->width, s->height, err));
    }
    return IMREC_OK;
}

enum imrec_status paste_sampler_init(struct paste_sampler *p, const struct view_kinds *moves,
                                     struct headroom *headroom, uint32_t head, uint32_t label_room,
                                     struct object_room *objects, struct imrec_error *err)
{
    *p = (struct paste_sampler){.kinds = moves, .objects = objects};
    if (moves->kind_count == 0)
        return IMREC_OK;
    IMREC_TRY(sampler_init(&p->sampler, moves, headroom, NULL, false, err));
    p->row = imrec_realloc(NULL, (uint64_t)head + label_room, sizeof(*p->row));
    p->numbers = imrec_realloc(NULL, (uint64_t)label_room / 5 + 1, sizeof(*p->numbers));
    if (p->row == NULL || p->numbers == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the label of an image that is pasted");
    IMREC_TRY(make_image(&p->own, moves, err));
    return make_image(&p->partner, moves, err);
}

static void free_image(struct paste_image *p)
{
    imrec_free(p->pixels);
    mask_free(&p->mask);
}

void paste_sampler_free(struct paste_sampler *p)
{
    if (p->kinds != NULL && p->kinds->kind_count != 0)
        sampler_free(&p->sampler);
    free_image(&p->own);
    free_image(&p->partner);
    IMREC_FREE(p->row, p->numbers);
    *p = (struct paste_sampler){0};
}

/* ---- two images --------------------------------------------------------------------------- */

void paste_view(struct paste_sampler *p, const struct sampler_view *of, struct paste_image *to,
                struct sampler_view *out)
{
    const struct imrec_shape *s = &p->kinds->kinds[of->kind].o.data_shape;
    to->mask.width = s->width; /* of memory that is large enough for every kind */
    to->mask.height = s->height;
    to->mask.bits = 16;
    *out = *of;
    out->slot = to->pixels;
    out->mask_slot = to->mask.values;
    out->sample.targets = &out->targets;
    out->targets.label = &out->label;
    out->targets.objects = p->objects;
}

void paste_view_made(const struct sampler_view *v, struct paste_image *to)
{
    to->columns = v->targets.columns;
    to->rows = v->targets.rows;
    to->label = v->label;
}

enum imrec_status paste_chosen(struct paste_sampler *p, const struct recipe *r,
                               struct sample_key key, const struct paste_draw *d,
                               uint32_t label_room, uint32_t *pasted, struct imrec_error *err)
{
    const struct paste_job job = {
        .o = r->o, .room = p->objects, .keypoints = r->keypoints, .label_room = label_room};
    paste_choose(r, key, d, &p->partner.label);
    return paste_objects(&job, &p->partner, &p->own, pasted, err);
}

/* ---- into the slot ------------------------------------------------------------------------ */

/* *d, with what `painted` has erased. */
static void take_erasure(struct imrec_draw *d, const struct imrec_draw *painted)
{
    d->erase_x = painted->erase_x;
    d->erase_y = painted->erase_y;
    d->erase_width = painted->erase_width;
    d->erase_height = painted->erase_height;
}

enum imrec_status paste_finish(struct paste_sampler *p, struct sampler *s, struct sampler_view *v,
                               const struct imrec_draw *moved, struct imrec_error *err)
{
    const uint32_t channels = p->kinds->kinds[v->kind].o.data_shape.channels;
    const struct mask *m = &p->own.mask;
    const struct imrec_image pixels = {p->own.pixels, (size_t)m->width * channels, m->width,
                                       m->height, channels};
    struct imrec_image_info info;
    v->place = NULL; /* it is that of the moves */
    v->targets.label = NULL;
    v->canvas_mask = m;
    v->drawn = true;
    det_draw_made(recipe_of(s, v), v->sample.key, &v->draw);
    s->mask_png = (struct bytes){NULL, 0};
    IMREC_TRY(sampler_look_at_pixels(s, &pixels, &info, err));
    IMREC_TRY(sampler_make_seen(s, &info, v, 1, err));
    const struct imrec_draw painted = v->draw;
    v->draw = *moved;
    take_erasure(&v->draw, &painted);
    return IMREC_OK;
}
