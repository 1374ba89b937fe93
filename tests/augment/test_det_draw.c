/* Draws of images with boxes: what they depend on, how they are spread, what samplers keep. */
#include "augment/draw/det_draw.h"
#include "tests/support/recipes.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"

#include <math.h>

enum { W = 300, H = 200, MANY = 20000 };

/* Two boxes: a small one on the upper left, a large one on the lower right. */
static const float boxes[] = {2,     5, 0,       0.1013f, 0.1017f, 0.2f,
                              0.25f, 1, 0.4011f, 0.3017f, 0.9f,    0.95f};

struct drawn {
    struct imrec_draw d;
    struct det_label label;
    float values[12];
};

static struct drawn draw_at(const struct cooked *c, uint64_t offset, bool with_boxes)
{
    struct drawn x;
    const struct sample_key key = {3, 1, 0, offset, 0};
    memcpy(x.values, boxes, sizeof(boxes));
    MUST(det_label_read(&x.label, x.values, with_boxes ? 12 : 2, NULL) == IMREC_OK);
    MUST(det_draw(&c->r, key, W, H, &x.label, &x.d, NULL) == IMREC_OK);
    return x;
}

static void cook_boxes(struct cooked *c, const char *words)
{
    char all[1024];
    snprintf(all, sizeof(all),
             "aug_seq=det_aug_default label_width=-1 fill_value=127 data_shape=3,64,64 %s", words);
    cook(c, all);
}

/* ---- spread ---------------------------------------------------------------------------------- */

struct moments {
    double n, sum, squares, low, high;
};

static void note(struct moments *m, double v)
{
    m->low = m->n == 0 || v < m->low ? v : m->low;
    m->high = m->n == 0 || v > m->high ? v : m->high;
    m->n++;
    m->sum += v;
    m->squares += v * v;
}

/* Mean and deviation of a flat distribution, within five standard errors (of the mean). */
static void must_be_flat(const struct moments *m, double low, double high, const char *what)
{
    const double mean = m->sum / m->n, deviation = (high - low) / sqrt(12);
    const double found = sqrt(m->squares / m->n - mean * mean);
    ck_assert_msg(m->low >= low - 1e-6 && m->high <= high + 1e-6, "%s: %g to %g", what, m->low,
                  m->high);
    ck_assert_msg(fabs(mean - (low + high) / 2) < 5 * deviation / sqrt(m->n) + 0.002 * (high - low),
                  "%s: mean %g", what, mean);
    ck_assert_msg(fabs(found / deviation - 1) < 0.04, "%s: deviation %g, not %g", what, found,
                  deviation);
}

static void must_be_share(double n, double of, double p, const char *what)
{
    ck_assert_msg(fabs(n / of - p) < 5 * sqrt(p * (1 - p) / of), "%s: %g of %g, not %g", what, n,
                  of, p);
}

TEST(scales_aspects_and_places_of_crops_are_flat)
{
    struct cooked c;
    struct moments scale = {0}, aspect = {0}, x = {0}, y = {0};
    cook_boxes(&c, "rand_crop_prob=0.75 min_crop_scales=0.3 max_crop_scales=0.5 "
                   "min_crop_aspect_ratios=0.75 max_crop_aspect_ratios=1.5");
    for (uint64_t i = 0; i < MANY; i++) {
        const struct imrec_draw d = draw_at(&c, i, false).d;
        if (d.crop_sampler < 0) {
            MUST(d.crop_width == W && d.crop_height == H && d.x == 0 && d.y == 0);
            continue;
        }
        MUST(d.crop_sampler == 0 && d.crop_trials == 1);
        note(&scale, sqrt((double)d.crop_width * d.crop_height / (W * H)));
        note(&aspect, (double)d.crop_width / d.crop_height);
        note(&x, (double)d.x / (W - d.crop_width));
        note(&y, (double)d.y / (H - d.crop_height));
    }
    must_be_share(scale.n, MANY, 0.75, "cropped");
    scale.low += 0.01, scale.high -= 0.01; /* whole px */
    must_be_flat(&scale, 0.3, 0.5, "scale");
    aspect.low += 0.02, aspect.high -= 0.02;
    must_be_flat(&aspect, 0.75, 1.5, "aspect");
    must_be_flat(&x, 0, 1, "column");
    must_be_flat(&y, 0, 1, "row");
}

TEST(samplers_have_equal_chances_and_lists_their_own_values)
{
    struct cooked c;
    double used[4] = {0};
    cook_boxes(&c, "rand_crop_prob=1 num_crop_sampler=4 min_crop_scales=(0.2,0.4,0.6,0.8) "
                   "max_crop_scales=(0.3,0.5,0.7,0.9) min_crop_aspect_ratios=1.4 "
                   "max_crop_aspect_ratios=1.6 max_crop_trials=100,100,0,100");
    for (uint64_t i = 0; i < MANY; i++) {
        const struct imrec_draw d = draw_at(&c, i, false).d;
        MUST(d.crop_sampler >= 0 && d.crop_sampler < 4);
        used[d.crop_sampler]++;
        const double scale = sqrt((double)d.crop_width * d.crop_height / (W * H));
        const double least = 0.2 + 0.2 * d.crop_sampler;
        MUST(scale > least - 0.01 && scale < least + 0.11);
    }
    ck_assert(used[2] == 0); /* it may not try at all */
    for (int i = 0; i < 4; i++)
        if (i != 2)
            must_be_share(used[i], MANY, 1.0 / 3, "a sampler");
}

TEST(canvases_are_flat_and_small_ones_are_none)
{
    struct cooked c;
    struct moments scale = {0}, x = {0}, y = {0};
    cook_boxes(&c, "rand_pad_prob=0.5 max_pad_scale=3");
    for (uint64_t i = 0; i < MANY; i++) {
        const struct imrec_draw d = draw_at(&c, i, false).d;
        MUST(d.crop_width == d.width && d.crop_height == d.height);
        if (d.width == W) {
            MUST(d.pad_x == 0 && d.pad_y == 0 && d.height == H);
            continue;
        }
        note(&scale, (double)d.width / W);
        note(&x, (double)d.pad_x / (d.width - W));
        note(&y, (double)d.pad_y / (d.height - H));
    }
    must_be_share(scale.n, MANY, 0.5 * (3 - 1.05) / 2, "on a canvas");
    must_be_flat(&scale, 1.045, 3, "scale");
    must_be_flat(&x, 0, 1, "column");
    must_be_flat(&y, 0, 1, "row");
}

TEST(colours_and_mirroring_happen_as_often_as_asked)
{
    struct cooked c;
    double n[5] = {0};
    struct moments contrast = {0};
    cook_boxes(&c, "max_random_hue=90 random_hue_prob=0.1 max_random_saturation=200 "
                   "random_saturation_prob=0.3 max_random_illumination=200 "
                   "random_illumination_prob=0.6 max_random_contrast=0.5 random_contrast_prob=0.8 "
                   "rand_mirror_prob=0.35");
    for (uint64_t i = 0; i < MANY; i++) {
        const struct imrec_draw d = draw_at(&c, i, false).d;
        MUST(abs(d.shift_h) <= 90 && abs(d.shift_s) <= 200 && abs(d.shift_l) <= 200);
        n[0] += d.shift_h != 0;
        n[1] += d.shift_s != 0;
        n[2] += d.shift_l != 0;
        n[3] += d.value_contrast != 1;
        n[4] += d.mirror;
        if (d.value_contrast != 1)
            note(&contrast, (double)d.value_contrast);
    }
    must_be_share(n[0], MANY, 0.1 * 89 / 90, "hue"); /* cut off: (-1, 1) of [-90, 90] is 0 */
    must_be_share(n[1], MANY, 0.3 * 199 / 200, "saturation");
    must_be_share(n[2], MANY, 0.6 * 199 / 200, "lightness");
    must_be_share(n[3], MANY, 0.8, "contrast");
    must_be_share(n[4], MANY, 0.35, "mirrored");
    must_be_flat(&contrast, 0.5, 1.5, "contrast");
}

/* ---- constraints ----------------------------------------------------------------------------- */

static const struct {
    const char *words;
    double overlap[2], sample[2], object[2];
} asked[] = {
    {"min_crop_overlaps=0.3", {0.3, 1}, {0, 1}, {0, 1}},
    {"min_crop_overlaps=0.45 max_crop_overlaps=0.5", {0.45, 0.5}, {0, 1}, {0, 1}},
    {"max_crop_overlaps=0.2", {0, 0.2}, {0, 1}, {0, 1}},
    {"min_crop_sample_coverages=0.5", {0, 1}, {0.5, 1}, {0, 1}},
    {"min_crop_object_coverages=0.9", {0, 1}, {0, 1}, {0.9, 1}},
    {"max_crop_object_coverages=0.8 crop_emit_mode=overlap", {0, 1}, {0, 1}, {0, 0.8}},
    {"min_crop_overlaps=0.1 max_crop_sample_coverages=0.6 min_crop_object_coverages=0.4",
     {0.1, 1},
     {0, 0.6},
     {0.4, 1}},
};

/* By rules written anew, in px. */
static bool box_suits(int which, const struct imrec_draw *d, const double b[4])
{
    const double x0 = fmax(b[0] * W, d->x), x1 = fmin(b[2] * W, d->x + d->crop_width);
    const double y0 = fmax(b[1] * H, d->y), y1 = fmin(b[3] * H, d->y + d->crop_height);
    const double both = x1 > x0 && y1 > y0 ? (x1 - x0) * (y1 - y0) : 0;
    const double crop = (double)d->crop_width * d->crop_height;
    const double box = (b[2] - b[0]) * W * (b[3] - b[1]) * H, little = 1e-6;
    const double share[3] = {both / (crop + box - both), both / crop, both / box};
    const double *range[3] = {asked[which].overlap, asked[which].sample, asked[which].object};
    for (int i = 0; i < 3; i++)
        if (share[i] < range[i][0] - little || share[i] > range[i][1] + little)
            return false;
    return true;
}

LOOP_TEST(some_box_has_what_the_sampler_asks_of_it, 0, COUNT(asked))
{
    struct cooked c;
    char words[256];
    uint32_t cropped = 0;
    snprintf(words, sizeof(words),
             "rand_crop_prob=1 min_crop_scales=0.2 max_crop_scales=1 min_crop_aspect_ratios=0.5 "
             "max_crop_aspect_ratios=2 %s",
             asked[_i].words);
    cook_boxes(&c, words);
    for (uint64_t i = 0; i < 3000; i++) {
        const struct drawn x = draw_at(&c, i, true);
        bool suited = false;
        if (x.d.crop_sampler < 0) {
            MUST(x.d.boxes == 2 && x.d.crop_trials == 25);
            continue;
        }
        for (int k = 0; k < 2; k++) {
            const double b[4] = {(double)boxes[3 + 5 * k], (double)boxes[4 + 5 * k],
                                 (double)boxes[5 + 5 * k], (double)boxes[6 + 5 * k]};
            suited = suited || box_suits(_i, &x.d, b);
        }
        MUST(suited && x.d.boxes > 0 && x.d.boxes == det_label_count(&x.label));
        cropped++;
    }
    ck_assert_uint_gt(cropped, 300);
}

TEST(boxes_stay_by_centre_or_by_overlap)
{
    struct cooked c;
    for (int overlap = 0; overlap < 2; overlap++) {
        uint32_t one = 0;
        cook_boxes(&c, overlap ? "rand_crop_prob=1 crop_emit_mode=overlap emit_overlap_thresh=0.6"
                               : "rand_crop_prob=1");
        for (uint64_t i = 0; i < 5000; i++) {
            const struct drawn x = draw_at(&c, i, true);
            const struct imrec_draw *d = &x.d;
            uint32_t want = 0;
            for (int k = 0; d->crop_sampler >= 0 && k < 2; k++) {
                const double x0 = (double)boxes[3 + 5 * k] * W, x1 = (double)boxes[5 + 5 * k] * W;
                const double y0 = (double)boxes[4 + 5 * k] * H, y1 = (double)boxes[6 + 5 * k] * H;
                const double right = d->x + d->crop_width, bottom = d->y + d->crop_height;
                const double w = fmin(x1, right) - fmax(x0, d->x);
                const double h = fmin(y1, bottom) - fmax(y0, d->y);
                const bool inside = (x0 + x1) / 2 >= d->x && (x0 + x1) / 2 < right &&
                                    (y0 + y1) / 2 >= d->y && (y0 + y1) / 2 < bottom;
                want += overlap ? w > 0 && h > 0 && w * h > 0.6 * (x1 - x0) * (y1 - y0) : inside;
            }
            MUST(d->crop_sampler < 0 || (want == d->boxes && want > 0));
            one += d->crop_sampler >= 0 && d->boxes == 1;
        }
        ck_assert_uint_gt(one, 500);
    }
}

/* ---- what draws depend on -------------------------------------------------------------------- */

TEST(equal_keys_draw_equally_and_one_option_does_not_move_another)
{
    struct cooked c, more;
    int same = 0;
    cook_boxes(&c, "rand_crop_prob=0.5 rand_pad_prob=0.5 max_pad_scale=2 rand_mirror_prob=0.5 "
                   "max_random_hue=30 random_hue_prob=1");
    cook_boxes(&more, "rand_crop_prob=0.5 rand_pad_prob=0 max_pad_scale=2 rand_mirror_prob=0.9 "
                      "max_random_hue=30 random_hue_prob=1");
    for (uint64_t i = 0; i < 200; i++) {
        const struct drawn a = draw_at(&c, i, true), b = draw_at(&c, i, true);
        const struct drawn other = draw_at(&c, i + 1, true), changed = draw_at(&more, i, true);
        MUST(memcmp(a.values, b.values, sizeof(a.values)) == 0);
        MUST(a.d.shift_h == b.d.shift_h && a.d.x == b.d.x && a.d.crop_width == b.d.crop_width);
        MUST(a.d.shift_h == changed.d.shift_h && a.d.mirror <= changed.d.mirror);
        MUST(a.d.width != W || (a.d.x == changed.d.x && a.d.crop_width == changed.d.crop_width));
        same += a.d.shift_h == other.d.shift_h;
    }
    ck_assert_int_lt(same, 30);
}

TEST(the_canvas_has_no_more_pixels_than_an_image_may)
{
    struct cooked c;
    cook_boxes(&c, "rand_pad_prob=1 max_pad_scale=100 max_pixels=600000");
    for (uint64_t i = 0; i < 500; i++) {
        const struct imrec_draw d = draw_at(&c, i, true).d;
        MUST((uint64_t)d.width * d.height <= 600000);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct {
    const char *words, *told;
} refused[] = {
    {"num_crop_sampler=2 min_crop_scales=0.1,0.2,0.3", "min_crop_scales has 3 numbers"},
    {"min_crop_scales=0.1,0.2", "min_crop_scales has 2 numbers"},
    {"min_crop_scales=0.7 max_crop_scales=0.6", "min_crop_scales and max_crop_scales of sampler 0"},
    {"min_crop_overlaps=1.5", "min_crop_overlaps must be a number from 0 to 1, not '1.5'"},
    {"max_crop_trials=2.5", "max_crop_trials must be whole numbers"},
    {"max_crop_object_coverages=0.1,", "max_crop_object_coverages must be"},
    {"rand_crop=1", "does not go with rand_crop"},
    {"rand_mirror=1", "does not go with mirror"},
    {"max_rotate_angle=5", "does not go with rotate"},
    {"rand_augment=2", "rand_augment"},
    {"random_h=5", "random_h"},
    {"data_shape=1,8,8 random_hue_prob=0.5", "need colours"},
    {"max_random_illumination=300", "max_random_illumination"},
};

LOOP_TEST(what_cannot_be_is_refused, 0, COUNT(refused))
{
    struct cooked c;
    struct imrec_error err = {0};
    char text[256];
    cook_boxes(&c, "");
    snprintf(text, sizeof(text), "%s", refused[_i].words);
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
        ck_assert_int_eq(cook_word(&c, w, NULL), IMREC_OK);
    ck_assert_int_eq(recipe_init(&c.r, &c.o, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, refused[_i].told) != NULL, "%s", err.message);
}
