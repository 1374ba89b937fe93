/* Affine moves of boxes against places that are moved one by one, and which boxes stay. */
#include "augment/draw/affine_draw.h"
#include "tests/support/recipes.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"

#include <math.h>

enum { W = 120, H = 90, SLOT_W = 100, SLOT_H = 80, FINE = 300 };

static void cook_moves(struct cooked *c, const char *words)
{
    char all[1024];
    snprintf(all, sizeof(all),
             "aug_seq=det_aug_default label_width=-1 data_shape=3,80,100 rand_affine_prob=1 %s",
             words);
    cook(c, all);
}

static struct imrec_draw draw_at(const struct cooked *c, uint64_t offset)
{
    struct imrec_draw d = {0};
    affine_draw(&c->r, (struct sample_key){3, 1, 0, offset, 0}, W, H, true, 1, &d);
    return d;
}

static struct det_label one_box(float values[7], const double edges[4])
{
    values[0] = 2, values[1] = 5, values[2] = 1;
    for (int i = 0; i < 4; i++)
        values[3 + i] = (float)(edges[i] / (i % 2 == 0 ? W : H));
    return (struct det_label){.values = values, .n = 7, .header = 2, .object = 5};
}

/* An edge of the image becomes one of the slot: x in px from the image's left edge. */
static void move_place(const struct imrec_draw *d, double x, double y, double *to_x, double *to_y)
{
    const double u = x - 0.5, v = y - 0.5;
    const double z = 1 + (double)d->tilt[0] * u + (double)d->tilt[1] * v;
    MUST(z > 0.1);
    *to_x = ((double)d->matrix[0] * u + (double)d->matrix[1] * v + (double)d->matrix[2]) / z + 0.5;
    *to_y = ((double)d->matrix[3] * u + (double)d->matrix[4] * v + (double)d->matrix[5]) / z + 0.5;
}

struct brute {
    double left, top, right, bottom, seen; /* of the places that the slot shows */
};

static struct brute brute_force(const struct imrec_draw *d, const double box[4])
{
    struct brute b = {INFINITY, INFINITY, -INFINITY, -INFINITY, 0};
    uint64_t seen = 0;
    for (int i = 0; i <= FINE; i++)
        for (int k = 0; k <= FINE; k++) {
            double x, y;
            move_place(d, box[0] + (box[2] - box[0]) * i / FINE,
                       box[1] + (box[3] - box[1]) * k / FINE, &x, &y);
            if (x < 0 || y < 0 || x > SLOT_W || y > SLOT_H)
                continue;
            seen++;
            b.left = fmin(b.left, x), b.right = fmax(b.right, x);
            b.top = fmin(b.top, y), b.bottom = fmax(b.bottom, y);
        }
    b.seen = (double)seen / ((FINE + 1) * (FINE + 1));
    return b;
}

static const double boxes[][4] = {
    {10, 10, 50, 40}, {0, 0, 120, 90}, {100, 5, 120, 85}, {55, 42, 65, 48}};

LOOP_TEST(boxes_surround_what_is_seen_of_them, 0, COUNT(boxes))
{
    struct cooked c;
    uint32_t compared = 0, gone = 0;
    cook_moves(&c, "max_affine_angle=180 min_affine_scale=0.4 max_affine_scale=2.5 "
                   "max_affine_shear=30 max_affine_shift=0.6 max_affine_tilt=0.35 min_box_area=0 "
                   "min_box_side=0 max_box_aspect=1e6");
    for (uint64_t i = 0; i < 150; i++) {
        float values[7];
        const struct imrec_draw d = draw_at(&c, i);
        const struct brute want = brute_force(&d, boxes[_i]);
        struct det_label l = one_box(values, boxes[_i]);
        affine_move(&c.r, &d, W, H, &l);
        if (want.seen < 0.005) { /* between places there may be a corner */
            gone++;
            continue;
        }
        ck_assert_uint_eq(det_label_count(&l), 1);
        const double told[4] = {(double)values[3] * SLOT_W, (double)values[4] * SLOT_H,
                                (double)values[5] * SLOT_W, (double)values[6] * SLOT_H};
        const double found[4] = {want.left, want.top, want.right, want.bottom};
        for (int k = 0; k < 4; k++)
            ck_assert_msg(fabs(told[k] - found[k]) < 2.5, "draw %d, edge %d: %g, not %g", (int)i, k,
                          told[k], found[k]);
        MUST(told[0] <= found[0] + 1e-3 && told[1] <= found[1] + 1e-3);
        MUST(told[2] >= found[2] - 1e-3 && told[3] >= found[3] - 1e-3);
        compared++;
    }
    ck_assert_uint_gt(compared, 40);
    ck_assert_uint_lt(gone, 110);
}

/* The middle stays the middle, and a scale is one of areas. */
TEST(moves_are_about_the_middle)
{
    struct cooked c;
    cook_moves(&c, "max_affine_angle=180 min_affine_scale=2 max_affine_scale=2");
    for (uint64_t i = 0; i < 20; i++) {
        const struct imrec_draw d = draw_at(&c, i);
        double x, y;
        move_place(&d, W / 2.0, H / 2.0, &x, &y);
        MUST(fabs(x - SLOT_W / 2.0) < 1e-3 && fabs(y - SLOT_H / 2.0) < 1e-3);
        const double area =
            (double)d.matrix[0] * (double)d.matrix[4] - (double)d.matrix[1] * (double)d.matrix[3];
        MUST(fabs(area - 4) < 1e-3 && d.tilt[0] == 0 && d.tilt[1] == 0);
    }
}

/* What is drawn fills its range and does not leave it. */
TEST(shifts_and_tilts_are_within_their_bounds)
{
    struct cooked c;
    double most_shift = 0, most_tilt = 0;
    cook_moves(&c, "max_affine_shift=0.25 max_affine_tilt=0.2");
    for (uint64_t i = 0; i < 400; i++) {
        const struct imrec_draw d = draw_at(&c, i);
        double x, y;
        move_place(&d, W / 2.0, H / 2.0, &x, &y);
        most_shift = fmax(most_shift, fabs(x / SLOT_W - 0.5));
        const double far = 1 + (double)d.tilt[0] * (W - 0.5) + (double)d.tilt[1] * (H / 2.0 - 0.5);
        const double middle =
            1 + (double)d.tilt[0] * (W / 2.0 - 0.5) + (double)d.tilt[1] * (H / 2.0 - 0.5);
        most_tilt = fmax(most_tilt, fabs(far / middle - 1));
    }
    MUST(most_shift > 0.24 && most_shift < 0.2501 && most_tilt > 0.19 && most_tilt < 0.2001);
}

/* ---- which boxes stay --------------------------------------------------------------------- */

static const struct {
    const char *rule;
    double box[4]; /* the slot shows (10, 5) to (110, 85) of the image */
    bool stays;
} rules[] = {
    {"min_box_area=0.5", {0, 20, 25, 40}, true},              /* 15 of 25 px */
    {"min_box_area=0.5", {0, 20, 19, 40}, false},             /* 9 of 19 px */
    {"min_box_area=0", {0, 20, 19, 40}, true},                /* anything */
    {"min_box_area=0 min_box_side=0", {0, 20, 9, 40}, false}, /* nothing is seen */
    {"min_box_side=4", {30, 30, 35, 60}, true},
    {"min_box_side=6", {30, 30, 35, 60}, false},
    {"min_box_side=6", {30, 30, 60, 35}, false},
    {"max_box_aspect=5", {30, 30, 40, 79}, true},
    {"max_box_aspect=5", {30, 30, 40, 81}, false},
    {"max_box_aspect=5", {30, 30, 81, 40}, false},
};

LOOP_TEST(boxes_stay_by_three_rules, 0, COUNT(rules))
{
    struct cooked c;
    char words[256];
    float values[7];
    struct imrec_draw d = {0};
    snprintf(words, sizeof(words), "max_affine_angle=1 %s", rules[_i].rule);
    cook_moves(&c, words);
    affine_draw(&c.r, (struct sample_key){0}, W, H, false, 1, &d);
    struct det_label l = one_box(values, rules[_i].box);
    affine_move(&c.r, &d, W, H, &l);
    ck_assert_uint_eq(det_label_count(&l), rules[_i].stays);
}
