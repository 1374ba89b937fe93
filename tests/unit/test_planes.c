/* Values as they are against the kernel for pixels: the same bits where values are pixels. */
#include "iter/sample/planes.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE_X = 37, SIDE_Y = 11, CROP_X = 19, CROP_Y = 7, MOST = SIDE_X * SIDE_Y * 3 };

static float floats[MOST + 1];
static double doubles[MOST + 1];

static struct planes image(uint32_t channels, bool is_double)
{
    for (uint32_t i = 0; i < MOST; i++)
        doubles[i] = (double)(floats[i] = (float)(i * 2654435761u >> 24));
    return (struct planes){.p = is_double ? (const void *)doubles : (const void *)floats,
                           .is_double = is_double,
                           .channels = channels,
                           .height = SIDE_Y,
                           .width = SIDE_X};
}

static struct normalize_job job(uint32_t way, const float *mean_image, void *out)
{
    struct normalize_job j = {.width = CROP_X, .height = CROP_Y, .channels = 3, .out = out};
    j.how = (struct imrec_normalize){.mean = {1.5f, 20, 3},
                                     .std = {2, 3, 4},
                                     .scale = 0.7f,
                                     .mean_image = way & 1 ? mean_image : NULL,
                                     .layout = way & 2 ? IMREC_NHWC : IMREC_NCHW,
                                     .mirror = (way & 4) != 0};
    ck_assert_int_eq(normalize_prepare(&j, NULL), IMREC_OK);
    return j;
}

START_TEST(values_that_are_pixels_give_what_pixels_give) /* _i: mean image, layout, mirror, ... */
{
    static float mean[CROP_X * CROP_Y * 3], right[CROP_X * CROP_Y * 3], made[CROP_X * CROP_Y * 3];
    const struct imrec_rect region = {5, 3, CROP_X, CROP_Y};
    const struct planes in = image(_i & 16 ? 1 : 3, (_i & 8) != 0);
    struct image bytes = {0};
    for (uint32_t i = 0; i < CROP_X * CROP_Y * 3; i++)
        mean[i] = (float)(i % 97) * 0.37f;
    const struct normalize_job a = job((uint32_t)_i, mean, right),
                               b = job((uint32_t)_i, mean, made);
    ck_assert_int_eq(planes_to_bytes(&in, region, 3, &bytes, NULL), IMREC_OK);
    for (uint32_t y = 0; y < CROP_Y; y++)
        normalize_row_scalar(&a, bytes.view.pixels + y * bytes.view.stride, y);
    planes_to_slot(&in, region, &b);
    ck_assert(memcmp(right, made, sizeof(made)) == 0);
    image_free(&bytes);
}
END_TEST

START_TEST(what_is_no_pixel_is_seen_wherever_it_stands)
{
    static const float no[] = {-1, 256, 0.5f, 255.0001f, 1e9f, -1e30f, 8388608, 4294967296.0f};
    const struct planes in = image(3, false);
    struct image bytes = {0};
    uint32_t nan_bits = 0x7fc00000;
    float nan_value;
    memcpy(&nan_value, &nan_bits, 4);
    for (uint32_t i = 0; i < MOST; i += 13)
        for (size_t k = 0; k <= sizeof(no) / sizeof(no[0]); k++) {
            const float kept = floats[i];
            floats[i] = k < sizeof(no) / sizeof(no[0]) ? no[k] : nan_value;
            ck_assert_int_eq(
                planes_to_bytes(&in, (struct imrec_rect){0, 0, SIDE_X, SIDE_Y}, 3, &bytes, NULL),
                IMREC_END);
            floats[i] = kept;
        }
    image_free(&bytes);
}
END_TEST

static const struct {
    uint32_t values;
    struct imrec_shape wanted;
    uint32_t channels, height, width; /* 0: refused */
} shapes[] = {
    {3 * 32 * 32, {3, 32, 32}, 3, 32, 32},
    {3 * 20 * 30, {3, 20, 30}, 3, 20, 30},
    {3 * 256 * 256, {3, 224, 224}, 3, 256, 256},
    {256 * 256, {1, 224, 200}, 1, 256, 256},
    {28 * 28, {3, 28, 28}, 1, 28, 28},
    {28 * 28, {3, 20, 20}, 1, 28, 28},
    {3 * 256 * 256, {1, 224, 224}, 0, 0, 0},
    {1000, {3, 5, 5}, 0, 0, 0},
    {1, {3, 5, 5}, 1, 1, 1},
    {UINT32_MAX, {3, 5, 5}, 0, 0, 0},
};

START_TEST(a_number_of_values_has_a_shape_or_none) /* _i into shapes */
{
    struct planes p;
    struct imrec_error err = {0};
    const enum imrec_status st = planes_shape(shapes[_i].values, &shapes[_i].wanted, &p, &err);
    ck_assert_int_eq(st == IMREC_OK, shapes[_i].channels != 0);
    if (st == IMREC_OK)
        ck_assert(p.channels == shapes[_i].channels && p.height == shapes[_i].height &&
                  p.width == shapes[_i].width);
    else
        ck_assert_str_ne(err.message, "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("planes");
    TCase *tc = tcase_create("planes");
    tcase_add_loop_test(tc, values_that_are_pixels_give_what_pixels_give, 0, 32);
    tcase_add_test(tc, what_is_no_pixel_is_seen_wherever_it_stands);
    tcase_add_loop_test(tc, a_number_of_values_has_a_shape_or_none, 0,
                        sizeof(shapes) / sizeof(shapes[0]));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
