/* How what is drawn spreads: against the documented distributions, over many samples. The draws are
 * fixed, so none of this can fail by chance. */
#include "tests/support/recipes.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

enum { N = 20000, CELLS = 10, MOST = 16 };

static struct sample_key key_of(uint64_t n)
{
    return (struct sample_key){.seed = 9, .sweep = n % 7, .shard = n % 3, .offset = n * 1048};
}

typedef double number_of(const struct imrec_draw *d);

static double angle_of(const struct imrec_draw *d)
{
    return d->angle;
}
static double shear_of(const struct imrec_draw *d)
{
    return (double)d->shear;
}
static double scale_of(const struct imrec_draw *d)
{
    return (double)d->scale;
}
static double aspect_of(const struct imrec_draw *d)
{
    return (double)d->aspect;
}
static double brightness_of(const struct imrec_draw *d)
{
    return (double)d->brightness;
}
static double contrast_of(const struct imrec_draw *d)
{
    return (double)d->contrast;
}
static double saturation_of(const struct imrec_draw *d)
{
    return (double)d->saturation;
}
static double value_contrast_of(const struct imrec_draw *d)
{
    return (double)d->value_contrast;
}
static double illumination_of(const struct imrec_draw *d)
{
    return (double)d->value_illumination;
}
static double square_of(const struct imrec_draw *d)
{
    return d->crop_width;
}
static double method_of(const struct imrec_draw *d)
{
    return d->resize_method;
}
static double warp_method_of(const struct imrec_draw *d)
{
    return d->warp_method;
}
static double crop_method_of(const struct imrec_draw *d)
{
    return d->crop_method;
}
static double order_of(const struct imrec_draw *d)
{
    return 2 * d->light_order[0] + (d->light_order[1] > d->light_order[2]);
}

static double op_of(const struct imrec_draw *d)
{
    return d->op[0];
}
static double second_op_of(const struct imrec_draw *d)
{
    return d->op[1];
}
static double hue_of(const struct imrec_draw *d)
{
    return (double)d->hue;
}
static double sigma_of(const struct imrec_draw *d)
{
    return (double)d->blur_sigma;
}
static double grey_of_draw(const struct imrec_draw *d)
{
    return d->grey;
}

static double x_of(const struct imrec_draw *d)
{
    return d->x;
}
static double y_of(const struct imrec_draw *d)
{
    return d->y;
}

/* Of what is erased from a slot of 2000 x 1000. */
static double erased_share_of(const struct imrec_draw *d)
{
    return d->erase_width * (double)d->erase_height / 2e6;
}
static double erased_aspect_of(const struct imrec_draw *d)
{
    return log((double)d->erase_height / d->erase_width);
}
static double erased_x_of(const struct imrec_draw *d)
{
    return d->erase_x / (2000.0 - d->erase_width);
}
static double erased_y_of(const struct imrec_draw *d)
{
    return d->erase_y / (1000.0 - d->erase_height);
}

/* 55 x 55 px out of 70 x 60 */
#define SQUARE                                                                                     \
    "random_resized_crop=1 min_random_area=0.725 max_random_area=0.725 min_aspect_ratio=1 "        \
    "max_aspect_ratio=1"
#define ERASE "random_erasing=1 data_shape=3,1000,2000 min_erase_area=0.02 max_erase_area="

/* Uniform in [low, high]; whole numbers: each of low..high. */
static const struct {
    const char *words;
    number_of *number;
    double low, high;
    bool whole;
} uniform[] = {
    {"max_rotate_angle=4", angle_of, -4, 4, true},
    {"max_shear_ratio=0.3", shear_of, -0.3, 0.3, false},
    {"min_random_scale=0.5 max_random_scale=2", scale_of, 0.5, 2, false},
    {"max_aspect_ratio=0.25", aspect_of, 0.75, 1.25, false},
    {"min_aspect_ratio=0.5 max_aspect_ratio=2", aspect_of, 0.5, 2, false},
    {"brightness=0.4", brightness_of, 0.6, 1.4, false},
    {"contrast=0.2", contrast_of, 0.8, 1.2, false},
    {"saturation=0.7", saturation_of, 0.3, 1.7, false},
    {"max_random_contrast=0.3", value_contrast_of, 0.7, 1.3, false},
    {"max_random_illumination=12", illumination_of, -12, 12, false},
    {"min_crop_size=31 max_crop_size=39", square_of, 31, 39, true},
    {"inter_method=10", method_of, 0, 4, true},
    {"inter_method=10 rotate=3", warp_method_of, 0, 4, true},
    {"inter_method=10", crop_method_of, 0, 4, true},
    {"brightness=0.1", order_of, 0, 5, true},
    {"rand_augment=2", op_of, 0, IMREC_OPS - 1, true},
    {"rand_augment=2", second_op_of, 0, IMREC_OPS - 1, true},
    {"trivial_augment=1", op_of, 0, IMREC_OPS - 1, true},
    {"hue=0.25", hue_of, -0.25, 0.25, false},
    {"gaussian_blur=1 min_blur_sigma=1 max_blur_sigma=3", sigma_of, 1, 3, false},
    {"random_grayscale=0.5", grey_of_draw, 0, 1, true},
    {"rand_crop=1 data_shape=3,51,61", x_of, 0, 9, true},
    {"rand_crop=1 data_shape=3,51,61", y_of, 0, 9, true},
    {"rand_crop=1 min_crop_size=55 max_crop_size=55", x_of, 0, 15, true},
    {"rand_crop=1 min_crop_size=55 max_crop_size=55", y_of, 0, 5, true},
    {SQUARE, x_of, 0, 15, true},
    {SQUARE, y_of, 0, 5, true},
    {SQUARE " rrc_style=torch", x_of, 0, 15, true},
    {SQUARE " rrc_style=torch", y_of, 0, 5, true},
    {ERASE "0.1", erased_share_of, 0.0199, 0.1003, false},
    {ERASE "0.1", erased_aspect_of, -1.208, 1.198, false},
    {ERASE "0.1", erased_x_of, 0, 1, false},
    {ERASE "0.1", erased_y_of, 0, 1, false},
};
enum { UNIFORM = sizeof(uniform) / sizeof(uniform[0]) };

static double chi_square(const uint32_t *count, uint32_t cells)
{
    double sum = 0, total = 0;
    for (uint32_t i = 0; i < cells; i++)
        total += count[i];
    for (uint32_t i = 0; i < cells; i++) {
        const double off = count[i] - total / cells;
        sum += off * off / (total / cells);
    }
    return sum;
}

START_TEST(uniform_numbers_fill_their_range_evenly) /* _i into uniform */
{
    struct cooked c;
    uint32_t count[MOST] = {0};
    const double low = uniform[_i].low, high = uniform[_i].high;
    const uint32_t cells = uniform[_i].whole ? (uint32_t)(high - low) + 1 : CELLS;
    cook(&c, uniform[_i].words);
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 70, 60);
        const double v = uniform[_i].number(&d);
        ck_assert_double_ge(v, low - 1e-6);
        ck_assert_double_le(v, high + 1e-6);
        const double at = uniform[_i].whole ? v - low : (v - low) / (high - low) * cells;
        count[at < cells ? (at < 0 ? 0 : (uint32_t)at) : cells - 1]++;
    }
    ck_assert_msg(chi_square(count, cells) < 40, "%s: %g", uniform[_i].words,
                  chi_square(count, cells));
}
END_TEST

START_TEST(the_area_is_uniform_and_sides_are_swapped_half_the_time)
{
    struct cooked c;
    uint32_t area[CELLS] = {0}, wide = 0, fallback = 0;
    cook(&c, "random_resized_crop=1 min_random_area=0.1 max_random_area=0.4 min_aspect_ratio=1.2 "
             "max_aspect_ratio=1.5");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 1000, 1000);
        const double share = 1e-6 * d.crop_width * d.crop_height;
        const double ratio = (double)d.crop_width / d.crop_height;
        ck_assert_double_le(fabs(share - 0.25), 0.152);
        const double at = (share - 0.1) / 0.3 * CELLS;
        area[at < 0 ? 0 : at < CELLS ? (int)at : CELLS - 1]++;
        wide += ratio > 1;
        ck_assert_double_le(fabs(ratio > 1 ? ratio - 1.35 : 1 / ratio - 1.35), 0.16);
        ck_assert_uint_le(d.x + d.crop_width, 1000);
        ck_assert_uint_le(d.y + d.crop_height, 1000);
        fallback += d.crop_width == 20;
    }
    ck_assert_double_lt(chi_square(area, CELLS), 33.7);
    ck_assert_uint_eq(fallback, 0);
    ck_assert_double_le(fabs(wide - N / 2.0), 3.9 * sqrt(N / 4.0));
}
END_TEST

/* torchvision: the logarithm of the aspect is uniform, nothing is swapped. */
START_TEST(torchs_aspect_is_uniform_in_its_logarithm)
{
    struct cooked c;
    uint32_t aspect[CELLS] = {0};
    cook(&c, "random_resized_crop=1 rrc_style=torch min_random_area=0.08 max_random_area=0.2 "
             "min_aspect_ratio=0.5 max_aspect_ratio=4");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 4000, 4000);
        const double at = (log((double)d.crop_width / d.crop_height) - log(0.5)) / log(8) * CELLS;
        aspect[at < 0 ? 0 : at < CELLS ? (int)at : CELLS - 1]++;
        const double share = d.crop_width * (double)d.crop_height / 16e6;
        ck_assert_double_ge(share, 0.0799);
        ck_assert_double_le(share, 0.2001);
    }
    ck_assert_double_lt(chi_square(aspect, CELLS), 33.7);
}
END_TEST

START_TEST(torchs_way_out_is_the_largest_area_in_the_middle)
{
    struct cooked c;
    cook(&c, "random_resized_crop=1 rrc_style=torch min_random_area=1 min_aspect_ratio=0.75 "
             "max_aspect_ratio=1.25");
    struct imrec_draw d = augment_draw(&c.r, key_of(3), 1000, 100);
    ck_assert(d.crop_width == 125 && d.crop_height == 100 && d.x == 437 + 1 && d.y == 0);
    d = augment_draw(&c.r, key_of(3), 90, 1000);
    ck_assert(d.crop_width == 90 && d.crop_height == 120 && d.x == 0 && d.y == 440);
}
END_TEST

START_TEST(torchs_centre_is_rounded_to_even)
{
    static const uint32_t want[][2] = {{20, 0}, {21, 0}, {22, 1}, {23, 2}, {25, 2}, {27, 4}};
    struct cooked c;
    cook(&c, "rrc_style=torch");
    for (int i = 0; i < 6; i++)
        ck_assert_uint_eq(augment_draw(&c.r, key_of(1), want[i][0], 24).x, want[i][1]);
}
END_TEST

START_TEST(an_area_that_never_fits_becomes_a_crop_of_data_shape)
{
    struct cooked c;
    cook(&c, "random_resized_crop=1 min_random_area=0.9 min_aspect_ratio=3 max_aspect_ratio=4");
    const struct imrec_draw d = augment_draw(&c.r, key_of(1), 60, 50);
    ck_assert(d.crop_width == 20 && d.crop_height == 24 && d.x == 20 && d.y == 13);
}
END_TEST

/* (u1 + 4 u2) / 5: mean 0, variance of the sum 17 / 300 on a range of 1. */
START_TEST(hls_shifts_have_the_originals_spread)
{
    struct cooked c;
    double sum[3] = {0}, square[3] = {0}, product = 0;
    cook(&c, "random_h=180 random_s=200 random_l=100");
    const double most[3] = {180, 200, 100};
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 70, 60);
        const double v[3] = {d.shift_h / 180.0, d.shift_s / 200.0, d.shift_l / 100.0};
        for (int i = 0; i < 3; i++) {
            ck_assert_double_le(fabs(v[i]), 1);
            sum[i] += v[i];
            square[i] += v[i] * v[i];
        }
        product += v[0] * v[1];
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_double_le(fabs(sum[i] / N), 0.02);
        ck_assert_double_le(fabs(square[i] / N - 4 * 17.0 / 300), 0.01 + 1 / most[i]);
    }
    ck_assert_double_le(fabs(product / N), 0.02);
}
END_TEST

START_TEST(light_is_normal_along_the_components)
{
    struct cooked c;
    double sum[3] = {0}, square[3] = {0}, both = 0;
    uint32_t within = 0;
    cook(&c, "pca_noise=0.1");
    /* variance of red: 0.01 * sum of (value * vector)^2 */
    static const double value[3] = {55.46, 4.794, 1.148};
    static const double vector[3][3] = {
        {-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};
    double want[3] = {0}, want_both = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            want[i] += 0.01 * pow(value[k] * vector[i][k], 2);
    for (int k = 0; k < 3; k++)
        want_both += 0.01 * value[k] * value[k] * vector[0][k] * vector[2][k];
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 70, 60);
        for (int i = 0; i < 3; i++) {
            sum[i] += (double)d.light[i];
            square[i] += (double)d.light[i] * (double)d.light[i];
        }
        both += (double)d.light[0] * (double)d.light[2];
        within += fabs((double)d.light[1]) < sqrt(want[1]);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_double_le(fabs(sum[i] / N), 4 * sqrt(want[i] / N));
        ck_assert_double_le(fabs(square[i] / N / want[i] - 1), 0.04);
    }
    ck_assert_double_le(fabs(both / N / want_both - 1), 0.05);
    ck_assert_double_le(fabs(within / (double)N - 0.6827), 0.013);
}
END_TEST

START_TEST(strengths_of_operations_are_torchvisions)
{
    struct cooked c;
    uint32_t negative[IMREC_OPS] = {0}, all[IMREC_OPS] = {0};
    cook(&c, "rand_augment=1 rand_augment_magnitude=15 data_shape=3,331,662");
    static const float want[IMREC_OPS] = {0,     0.15f, 0.15f, 150,   75, 15,
                                          0.45f, 0.45f, 0.45f, 0.45f, 6,  127.5f};
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 700, 700);
        const float m = d.op_magnitude[0], factor = d.op[0] >= 6 && d.op[0] <= 9 ? 1 : 0;
        ck_assert_float_le(fabsf(fabsf(m - factor) - want[d.op[0]]), 1e-5f);
        negative[d.op[0]] += m < factor;
        all[d.op[0]]++;
    }
    for (int op = IMREC_OP_SHEAR_X; op <= IMREC_OP_SHARPNESS; op++)
        ck_assert_double_le(fabs(negative[op] - all[op] / 2.0), 4 * sqrt(all[op] / 4.0));
}
END_TEST

/* 31 strengths, as likely as each other, of each operation that has some. */
START_TEST(trivial_augments_strengths_are_equally_likely)
{
    static const struct {
        enum imrec_op op;
        double zero, most; /* of 31 steps */
    } ops[] = {{IMREC_OP_SHEAR_X, 0, 0.99},   {IMREC_OP_SHEAR_Y, 0, 0.99},
               {IMREC_OP_ROTATE, 0, 135},     {IMREC_OP_BRIGHTNESS, 1, 0.99},
               {IMREC_OP_COLOR, 1, 0.99},     {IMREC_OP_CONTRAST, 1, 0.99},
               {IMREC_OP_SHARPNESS, 1, 0.99}, {IMREC_OP_SOLARIZE, 255, 255}};
    enum { OPS = sizeof(ops) / sizeof(ops[0]) };
    struct cooked c;
    uint32_t count[OPS][31] = {{0}};
    cook(&c, "trivial_augment=1");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 60, 60);
        ck_assert_uint_eq(d.op_count, 1);
        for (int i = 0; i < OPS; i++)
            if (d.op[0] == ops[i].op) {
                const double at = fabs((double)d.op_magnitude[0] - ops[i].zero) / ops[i].most * 30;
                ck_assert_double_le(fabs(at - rint(at)), 1e-3);
                count[i][(int)rint(at)]++;
            }
    }
    for (int i = 0; i < OPS; i++) /* 30 degrees of freedom: 99.99 % are below 68.8 */
        ck_assert_msg(chi_square(count[i], 31) < 69, "%d: %g", (int)ops[i].op,
                      chi_square(count[i], 31));
}
END_TEST

START_TEST(what_has_a_probability_comes_as_often)
{
    struct cooked c;
    uint32_t grey = 0, blurred = 0, erased = 0;
    cook(&c, "random_grayscale=0.2 gaussian_blur=0.5 random_erasing=0.25");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 60, 60);
        grey += d.grey;
        blurred += d.blur_sigma > 0;
        erased += d.erase_width != 0;
        ck_assert_uint_le(d.erase_x + d.erase_width, 20);
        ck_assert_uint_le(d.erase_y + d.erase_height, 24);
        if (d.erase_width != 0) {
            const double share = d.erase_width * d.erase_height / 480.0;
            ck_assert(share > 0.01 && share < 0.4);
        }
    }
    ck_assert_double_le(fabs(grey - 0.2 * N), 4 * sqrt(0.16 * N));
    ck_assert_double_le(fabs(blurred - 0.5 * N), 4 * sqrt(0.25 * N));
    ck_assert_double_le(fabs(erased - 0.25 * N), 4 * sqrt(0.19 * N) + 0.01 * N);
}
END_TEST

START_TEST(angles_come_from_the_list_and_a_fixed_one_wins_over_random_ones)
{
    struct cooked c;
    uint32_t count[3] = {0};
    cook(&c, "rotate_list=-45,0,90 rotate=30 max_rotate_angle=10");
    for (uint64_t n = 0; n < 3000; n++) {
        const int32_t a = augment_draw(&c.r, key_of(n), 70, 60).angle;
        ck_assert(a == -45 || a == 0 || a == 90);
        count[a < 0 ? 0 : a == 0 ? 1 : 2]++;
    }
    ck_assert_double_lt(chi_square(count, 3), 18.5);
    cook(&c, "rotate=30 max_rotate_angle=10");
    ck_assert_int_eq(augment_draw(&c.r, key_of(5), 70, 60).angle, 30);
    cook(&c, "rotate=-30");
    ck_assert(!augment_draw(&c.r, key_of(5), 70, 60).warped); /* the original ignores it too */
}
END_TEST

static const char everything[] =
    "max_rotate_angle=20 max_shear_ratio=0.2 min_random_scale=0.8 max_aspect_ratio=0.3 rand_crop=1 "
    "rand_mirror=1 brightness=0.3 contrast=0.3 saturation=0.3 random_h=20 random_s=30 random_l=40 "
    "pca_noise=0.1 max_random_contrast=0.2 max_random_illumination=9 inter_method=10";

START_TEST(equal_keys_give_equal_draws_and_every_part_of_the_key_counts)
{
    struct cooked c;
    cook(&c, everything);
    for (uint64_t n = 0; n < 500; n++) {
        const struct sample_key k = key_of(n);
        struct sample_key other[4] = {k, k, k, k};
        const struct imrec_draw d = augment_draw(&c.r, k, 90, 80),
                                e = augment_draw(&c.r, k, 90, 80);
        ck_assert(d.shear == e.shear && d.light[1] == e.light[1] && d.shift_s == e.shift_s);
        other[0].seed++, other[1].sweep++, other[2].shard++, other[3].offset++;
        for (int i = 0; i < 4; i++) {
            const struct imrec_draw f = augment_draw(&c.r, other[i], 90, 80);
            ck_assert(d.shear != f.shear && d.light[1] != f.light[1]);
            ck_assert(d.brightness != f.brightness && d.value_contrast != f.value_contrast);
        }
    }
}
END_TEST

START_TEST(one_augmenter_does_not_change_what_another_draws)
{
    struct cooked all, hls, warp;
    cook(&all, everything);
    cook(&hls, "random_h=20 random_s=30 random_l=40");
    cook(&warp, "max_rotate_angle=20");
    for (uint64_t n = 0; n < 200; n++) {
        const struct imrec_draw d = augment_draw(&all.r, key_of(n), 90, 80);
        const struct imrec_draw e = augment_draw(&hls.r, key_of(n), 90, 80);
        ck_assert(d.shift_h == e.shift_h && d.shift_l == e.shift_l && d.shift_s == e.shift_s);
        ck_assert_int_eq(d.angle, augment_draw(&warp.r, key_of(n), 90, 80).angle);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("draw_spread");
    TCase *tc = tcase_create("all");
    tcase_add_loop_test(tc, uniform_numbers_fill_their_range_evenly, 0, UNIFORM);
    tcase_add_test(tc, the_area_is_uniform_and_sides_are_swapped_half_the_time);
    tcase_add_test(tc, an_area_that_never_fits_becomes_a_crop_of_data_shape);
    tcase_add_test(tc, torchs_aspect_is_uniform_in_its_logarithm);
    tcase_add_test(tc, torchs_way_out_is_the_largest_area_in_the_middle);
    tcase_add_test(tc, torchs_centre_is_rounded_to_even);
    tcase_add_test(tc, hls_shifts_have_the_originals_spread);
    tcase_add_test(tc, light_is_normal_along_the_components);
    tcase_add_test(tc, strengths_of_operations_are_torchvisions);
    tcase_add_test(tc, trivial_augments_strengths_are_equally_likely);
    tcase_add_test(tc, what_has_a_probability_comes_as_often);
    tcase_add_test(tc, angles_come_from_the_list_and_a_fixed_one_wins_over_random_ones);
    tcase_add_test(tc, equal_keys_give_equal_draws_and_every_part_of_the_key_counts);
    tcase_add_test(tc, one_augmenter_does_not_change_what_another_draws);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
