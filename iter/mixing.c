/* iter/mixing.c - mixup and cutmix, when all slots of a batch are filled. */
#include "augment/mix.h"
#include "base/error.h"
#include "iter/state.h"

#include <stdlib.h>

static int by_order(const void *a, const void *b)
{
    const struct mix_candidate *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static void mix_labels(float *a, float *b, uint32_t n, float share)
{
    for (uint32_t i = 0; i < n; i++) {
        const float x = a[i], y = b[i];
        a[i] = share * x + (1 - share) * y;
        b[i] = share * y + (1 - share) * x;
    }
}

static void note(struct imrec_draw *d, uint32_t partner, float share, const struct mix_draw *m,
                 const struct imrec_shape *shape)
{
    d->mix_partner = partner;
    d->mix_share = share;
    if (!m->cut)
        return;
    const struct imrec_rect r = mix_rectangle(m, shape->width, shape->height);
    d->cut_x = r.x, d->cut_y = r.y, d->cut_width = r.width, d->cut_height = r.height;
}

/* The rectangle of a map changes places with that of the images. */
static void cut_map(const struct augment_options *o, size_t size, const struct mix_draw *m,
                    uint8_t *a, uint8_t *b)
{
    const struct imrec_rect r = mix_rectangle(m, o->data_shape.width, o->data_shape.height);
    for (uint32_t y = r.y; y < r.y + r.height; y++) {
        const size_t begin = ((size_t)y * o->data_shape.width + r.x) * size;
        mix_swap_bytes(a + begin, b + begin, r.width * size);
    }
}

/* Pixels as those of the first image, maps as masks. */
static void
mix_further(const struct slots *s, uint32_t cell, uint32_t a, uint32_t b, const struct mix_draw *m)
{
    const struct further_images *f = s->views->further;
    for (uint32_t i = 0; f != NULL && i < f->count; i++) {
        const struct augment_options *o = &slots_further_kind(s, cell, i, 0)->o;
        void *first = slots_further(s, cell, i, 0, a), *second = slots_further(s, cell, i, 0, b);
        if (f->image[i].type == IMREC_IMAGE_PIXELS)
            (void)mix_slots(o, m, first, second);
        else if (m->cut)
            cut_map(o, image_type_size(f->image[i].type), m, first, second);
    }
}

static void mix_pair(struct imrec_iter *it, uint32_t cell, uint32_t a, uint32_t b)
{
    struct slots *s = &it->slots;
    const size_t row_a = slots_row(s, cell, a), row_b = slots_row(s, cell, b);
    const struct mix_draw *m = &s->mixes[row_a];
    const struct augment_options *o = &slots_kind(s, cell, 0)->o;
    const float share = mix_slots(o, m, slots_data(s, cell, 0, a), slots_data(s, cell, 0, b));
    mix_labels(s->labels + row_a * s->label_width, s->labels + row_b * s->label_width,
               s->label_width, share);
    if (m->cut && s->masks_bytes != 0)
        cut_map(o, s->mask_value, m, slots_mask(s, cell, 0, a), slots_mask(s, cell, 0, b));
    mix_further(s, cell, a, b, m);
    if (s->draws == NULL)
        return;
    note(slots_draw(s, cell, 0, a), b, share, m, &o->data_shape);
    note(slots_draw(s, cell, 0, b), a, share, m, &o->data_shape);
}

/* Pairs among slots [begin, end) of the batch. */
static void mix_group(struct imrec_iter *it, uint32_t cell, uint32_t begin, uint32_t end)
{
    struct slots *s = &it->slots;
    struct mix_candidate *all = s->candidates + slots_row(s, cell, begin);
    uint32_t n = 0;
    for (uint32_t slot = begin; slot < end; slot++) {
        const size_t row = slots_row(s, cell, slot);
        if (s->valid[row] && s->status[row] == IMREC_OK)
            all[n++] = (struct mix_candidate){s->mixes[row].order, slot};
    }
    qsort(all, n, sizeof(*all), by_order);
    for (uint32_t i = 0; i + 1 < n; i += 2) /* one that is left over stays as it is */
        mix_pair(it, cell, all[i].slot, all[i + 1].slot);
}

void iter_mix(void *context, uint32_t cell)
{
    struct imrec_iter *it = context;
    const uint32_t given = it->slots.cells[cell].closed.slots * it->views.rows;
    const uint32_t group =
        it->options.mix_group != 0 ? (uint32_t)it->options.mix_group : it->slots.batch_size;
    for (uint32_t begin = 0; begin < given; begin += group)
        mix_group(it, cell, begin, given - begin < group ? given : begin + group);
}
