/* augment/paint_ops.c - operations one after another, or, with AugMix, in chains whose results are
 * blended with the image. */
#include "augment/paint_ops.h"

#include "augment/colour/colour_kernels.h"
#include "augment/colour/ops.h"
#include "augment/draw/draw_ops.h"
#include "augment/resize/scratch.h"
#include "base/error.h"

#include <string.h>

struct painting {
    const struct recipe *r;
    struct image *images; /* two */
    uint32_t *at;
    struct path *path; /* that targets go; NULL: there are none */
    struct resize_scratch *scratch;
};

static enum imrec_status
paint_op(const struct painting *p, enum imrec_op op, float magnitude, struct imrec_error *err)
{
    const struct imrec_image *from = &p->images[*p->at].view;
    IMREC_TRY(stop_check(p->scratch->stop, err));
    if (!op_moves(op))
        return op_paint(op, magnitude, from, p->scratch, cpu_level(), err);
    *p->at ^= 1;
    if (p->path != NULL)
        op_path(op, magnitude, p->path);
    return op_move(op, magnitude, (uint8_t)p->r->o->fill_value, from, &p->images[*p->at],
                   p->scratch, err);
}

/* ---- AugMix ------------------------------------------------------------------------------- */

static void copy(const struct imrec_image *i, uint8_t *pixels, bool back)
{
    const size_t row = (size_t)i->width * i->channels;
    for (uint32_t y = 0; y < i->height; y++) {
        uint8_t *at = i->pixels + y * i->stride, *other = pixels + y * row;
        memcpy(back ? at : other, back ? other : at, row);
    }
}

static void weigh(const struct imrec_image *i, float share, float *sum)
{
    const size_t row = (size_t)i->width * i->channels;
    for (uint32_t y = 0; y < i->height; y++)
        colour_kernels[cpu_level()].weigh(share, i->pixels + y * i->stride, sum + y * row, row);
}

/* Truncated, as torchvision does. */
static void settle(const struct imrec_image *i, const float *sum)
{
    for (uint32_t y = 0; y < i->height; y++)
        for (size_t x = 0; x < (size_t)i->width * i->channels; x++) {
            const float v = *sum++;
            i->pixels[y * i->stride + x] = (uint8_t)(v < 255 ? v : 255);
        }
}

static enum imrec_status
mix_chains(const struct painting *p, const struct augmix *m, struct imrec_error *err)
{
    const struct imrec_image *first = &p->images[*p->at].view;
    const size_t n = (size_t)first->width * first->height * first->channels;
    uint8_t *kept = scratch_room(p->scratch, ROOM_KEPT, n, 1);
    float *sum = scratch_room(p->scratch, ROOM_SUM, n, sizeof(*sum));
    if (kept == NULL || sum == NULL)
        return scratch_no_memory(err);
    memset(sum, 0, n * sizeof(*sum));
    copy(first, kept, false);
    weigh(first, m->share, sum);
    for (uint32_t i = 0; i < m->width; i++) {
        const struct augmix_chain *c = &m->chains[i];
        copy(&p->images[*p->at].view, kept, true);
        for (uint32_t k = 0; k < c->depth; k++)
            IMREC_TRY(paint_op(p, (enum imrec_op)c->op[k], c->magnitude[k], err));
        weigh(&p->images[*p->at].view, c->share, sum);
    }
    settle(&p->images[*p->at].view, sum);
    return IMREC_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

uint64_t paint_ops_claim(const struct recipe *r, uint64_t values)
{
    return !r->ops ? 0 : r->o->augmix ? values * (2 + sizeof(float)) : values;
}

enum imrec_status paint_ops(const struct recipe *r, const struct imrec_draw *d,
                            const struct paint_sample *sample, struct image images[2], uint32_t *at,
                            struct resize_scratch *scratch, struct imrec_error *err)
{
    struct painting p = {.r = r, .images = images, .at = at, .scratch = scratch};
    if (r->o->augmix) {
        const struct sample_key key = sample != NULL ? sample->key : (struct sample_key){0};
        const struct augmix m = draw_augmix(r, key);
        return mix_chains(&p, &m, err);
    }
    if (sample != NULL && sample->targets != NULL)
        p.path = &sample->targets->path;
    for (uint32_t i = 0; i < d->op_count; i++)
        IMREC_TRY(paint_op(&p, (enum imrec_op)d->op[i], d->op_magnitude[i], err));
    return IMREC_OK;
}
