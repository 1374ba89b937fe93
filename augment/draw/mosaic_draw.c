/* augment/draw/mosaic_draw.c - where the images of a mosaic meet, and where each of them lies. */
#include "augment/draw/mosaic_draw.h"

#include "base/rng.h"

bool mosaic_draw(const struct recipe *r, struct sample_key key, struct mosaic_draw *out)
{
    const struct augment_options *o = r->o;
    const uint32_t width = 2 * o->data_shape.width, height = 2 * o->data_shape.height;
    if (!recipe_has_mosaics(r))
        return false;
    const struct rng_block bits = draw_block(key, DRAW_MOSAIC);
    const struct rng_block partners = draw_block(key, DRAW_MOSAIC_WITH);
    if (!(draw_unit(bits.v[0]) < (double)o->rand_mosaic_prob))
        return false;
    const double most = (double)o->max_mosaic_shift;
    *out = (struct mosaic_draw){
        .width = width,
        .height = height,
        .x = (uint32_t)((0.5 + (2 * draw_unit(bits.v[1]) - 1) * most) * width),
        .y = (uint32_t)((0.5 + (2 * draw_unit(bits.v[2]) - 1) * most) * height),
        .scale = draw_between(bits.v[3], o->min_mosaic_scale, o->max_mosaic_scale)};
    for (int i = 0; i < MOSAIC_TILES - 1; i++)
        out->partner[i] = partners.v[i];
    return true;
}

struct mosaic_place
mosaic_place(const struct mosaic_draw *m, uint32_t tile, uint32_t width, uint32_t height)
{
    const bool right = tile % 2 != 0, below = tile / 2 != 0;
    return (struct mosaic_place){.x = (int64_t)m->x - (right ? 0 : width),
                                 .y = (int64_t)m->y - (below ? 0 : height),
                                 .width = width,
                                 .height = height};
}

static void move(float *v, int64_t at, uint32_t size, uint32_t canvas)
{
    *v = (float)(((double)at + (double)*v * size) / canvas);
}

void mosaic_move_object(const struct mosaic_draw *m, const struct mosaic_place *at,
                        uint32_t keypoints, float *object, uint32_t n)
{
    float *point = object + n - (size_t)3 * keypoints;
    for (int i = 0; i < 2; i++) {
        move(&object[1 + 2 * i], at->x, at->width, m->width);
        move(&object[2 + 2 * i], at->y, at->height, m->height);
    }
    for (uint32_t i = 0; i < keypoints; i++, point += 3) {
        if (point[2] == 0) /* not labelled: no place to move */
            continue;
        move(&point[0], at->x, at->width, m->width);
        move(&point[1], at->y, at->height, m->height);
    }
}
