/* augment/draw/affine_draw.c - turned, scaled, sheared, shifted and tilted about the image's
 * middle.
 *
 * The map is made of exact factors, and rounded to float32 once: pixels, boxes, keypoints and masks
 * all take the rounded one. */
#include "augment/draw/affine_draw.h"

#include "augment/geometry/path.h"
#include "augment/geometry/projection.h"
#include "augment/geometry/warp.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

#define RADIANS (3.14159265358979323846 / 180)

bool affine_is_drawn(const struct recipe *r, struct sample_key key)
{
    const float most = r->o->rand_affine_prob;
    return most > 0 && draw_unit(draw_block(key, DRAW_IF_AFFINE).v[0]) < (double)most;
}

static double signed_part(uint64_t bits, float most)
{
    return (2 * draw_unit(bits) - 1) * (double)most;
}

static void then(double m[9], const double next[9])
{
    projection_compose(m, next, m);
}

static void then_shift(double m[9], double x, double y)
{
    then(m, (const double[9]){1, 0, x, 0, 1, y, 0, 0, 1});
}

/* About (0, 0): tilted, turned and scaled, sheared. A tilt of 1 would put the edge of an image,
 * half its side away, on the horizon. */
static void
turn(const struct recipe *r, struct sample_key key, double width, double height, double m[9])
{
    const struct augment_options *o = r->o;
    const struct rng_block how = draw_block(key, DRAW_AFFINE);
    const struct rng_block where = draw_block(key, DRAW_AFFINE_MOVE);
    const double angle = signed_part(how.v[0], o->max_affine_angle) * RADIANS;
    const double low = (double)o->min_affine_scale, high = (double)o->max_affine_scale;
    const double scale = low + (high - low) * draw_unit(how.v[1]);
    const double along = tan(signed_part(how.v[2], o->max_affine_shear) * RADIANS);
    const double down = tan(signed_part(how.v[3], o->max_affine_shear) * RADIANS);
    const double a = scale * cos(angle), b = scale * sin(angle);
    const double tilt_x = signed_part(where.v[2], o->max_affine_tilt) / (width / 2);
    const double tilt_y = signed_part(where.v[3], o->max_affine_tilt) / (height / 2);
    then(m, (const double[9]){1, 0, 0, 0, 1, 0, tilt_x, tilt_y, 1});
    then(m, (const double[9]){a, b, 0, -b, a, 0, 0, 0, 1});
    then(m, (const double[9]){1, along, 0, down, 1, 0, 0, 0, 1});
}

void affine_draw(const struct recipe *r, struct sample_key key, uint32_t width, uint32_t height,
                 bool drawn, float scale, struct imrec_draw *d)
{
    const struct imrec_shape *s = &r->o->data_shape;
    const struct rng_block where = draw_block(key, DRAW_AFFINE_MOVE);
    const double by = (double)scale;
    double m[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    then_shift(m, (1 - (double)width) / 2, (1 - (double)height) / 2);
    then(m, (const double[9]){by, 0, 0, 0, by, 0, 0, 0, 1});
    if (drawn) {
        turn(r, key, by * width, by * height, m);
        then_shift(m, signed_part(where.v[0], r->o->max_affine_shift) * s->width,
                   signed_part(where.v[1], r->o->max_affine_shift) * s->height);
    }
    then_shift(m, (s->width - 1.0) / 2, (s->height - 1.0) / 2);
    for (int i = 0; i < 6; i++)
        d->matrix[i] = (float)(m[i] / m[8]);
    d->tilt[0] = (float)(m[6] / m[8]);
    d->tilt[1] = (float)(m[7] / m[8]);
    d->warped = true;
    d->canvas_width = s->width;
    d->canvas_height = s->height;
}

/* ---- boxes -------------------------------------------------------------------------------- */

static bool stays(const void *options, const double from[4], const double to[4], double seen)
{
    const struct augment_options *o = options;
    (void)from;
    const double w = to[2] - to[0], h = to[3] - to[1];
    const double least = (double)o->min_box_side;
    return w > 0 && h > 0 && seen > 0 && seen >= (double)o->min_box_area && w >= least &&
           h >= least && fmax(w / h, h / w) <= (double)o->max_box_aspect;
}

void affine_move(const struct recipe *r, const struct imrec_draw *d, uint32_t width,
                 uint32_t height, struct det_label *label)
{
    struct path path;
    double m[9];
    path_begin(&path, width, height);
    path_add_edge(&path);
    warp_projection(d->matrix, d->tilt, m);
    path_add_map(&path, m, d->canvas_width, d->canvas_height);
    const struct det_way way = {
        &path, d->canvas_width, d->canvas_height, r->o, stays,
    };
    det_label_follow(label, &way);
}
