/* tests/codec/test_scaled.c - JPEGs scaled by 1/2, 1/4 and 1/8 by our own decoder have the pixels
 * of libjpeg-turbo's, whole and in regions. */
#include "codec/jpeg/kernels/jpeg_kernels.h"
#include "tests/support/baseline_variants.h"
#include "tests/support/images.h"
#include "tests/support/suite.h"
#include "tests/support/twin.h"

static const struct codec_limits limits = {.max_pixels = 1 << 24};

/* ---- images --------------------------------------------------------------------------------- */

static struct image
begin_and_scale(struct codec *c, struct bytes jpeg, uint32_t denominator, uint32_t channels)
{
    struct imrec_image_info info;
    struct imrec_error err;
    struct image out = {0};
    uint32_t warnings;
    ck_assert_int_eq(codec_begin(c, jpeg, &limits, &info, &err), IMREC_OK);
    const enum imrec_status st =
        codec_decode_scaled(c, denominator, channels, &out, &warnings, &err);
    ck_assert_msg(st == IMREC_OK && warnings == 0, "%s", err.message);
    return out;
}

static void
compare_region(struct codec *c, const struct image *whole, uint32_t denominator, uint64_t *state)
{
    const struct imrec_image *v = &whole->view;
    struct image part = {0};
    const uint32_t x = pick(state, v->width), y = pick(state, v->height);
    const struct imrec_rect r = {x, y, 1 + pick(state, v->width - x),
                                 1 + pick(state, v->height - y)};
    ck_assert_int_eq(codec_decode_scaled_region(c, denominator, r, v->channels, &part, NULL, NULL),
                     IMREC_OK);
    for (uint32_t k = 0; k < r.height; k++)
        ck_assert_msg(memcmp(part.view.pixels + k * part.view.stride,
                             v->pixels + (r.y + k) * v->stride + (size_t)r.x * v->channels,
                             (size_t)r.width * v->channels) == 0,
                      "1/%u of %u x %u: row %u of %u x %u at (%u, %u)", denominator, v->width,
                      v->height, k, r.width, r.height, r.x, r.y);
    image_free(&part);
}

/* Returns whether our decoder did it. */
static bool
compare(struct twin *t, struct bytes jpeg, uint32_t denominator, uint32_t channels, uint64_t *state)
{
    const uint64_t ours = codec_baseline_count(t->own);
    struct image a = begin_and_scale(t->own, jpeg, denominator, channels);
    struct image b = begin_and_scale(t->libjpeg, jpeg, denominator, channels);
    const bool done = codec_baseline_count(t->own) > ours;
    ck_assert_uint_eq(a.view.width, b.view.width);
    ck_assert_uint_eq(a.view.height, b.view.height);
    for (uint32_t y = 0; y < b.view.height; y++)
        ck_assert_msg(memcmp(a.view.pixels + y * a.view.stride, b.view.pixels + y * b.view.stride,
                             (size_t)b.view.width * channels) == 0,
                      "1/%u of %u x %u: row %u", denominator, b.view.width, b.view.height, y);
    for (int i = 0; i < 3; i++) {
        compare_region(t->own, &b, denominator, state);
        compare_region(t->libjpeg, &b, denominator, state);
    }
    image_free(&a);
    image_free(&b);
    return done;
}

static const struct jpeg_layout layouts[] = {
    {.colours = COLOURS_GREY, .h = 1, .v = 1},
    {.colours = COLOURS_YCC, .h = 1, .v = 1, .optimal = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 100},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .quality = 30},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .restart_mcus = 5},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = true},
    {.colours = COLOURS_GREY, .h = 1, .v = 1, .progressive = true, .quality = 100},
    {.colours = COLOURS_CMYK, .h = 1, .v = 1},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .arithmetic = true}, /* libjpeg-turbo's */
};

CASE(.timeout = 120)

LOOP_TEST(every_scale_has_libjpeg_s_pixels, 0, COUNT(layouts)) /* _i: layouts */
{
    static const uint32_t sides[][2] = {{1, 1},   {5, 9},    {16, 16},  {17, 33},
                                        {90, 41}, {131, 67}, {322, 259}};
    struct twin twin;
    uint64_t state = 5;
    int ours = 0, all = 0;
    twin_begin(&twin);
    for (size_t s = 0; s < sizeof(sides) / sizeof(sides[0]); s++) {
        const struct bytes jpeg = jpeg_make(sides[s][0], sides[s][1], &layouts[_i]);
        for (uint32_t denominator = 2; denominator <= 8; denominator *= 2)
            for (uint32_t channels = 1; channels <= 3; channels += 2, all++)
                ours += compare(&twin, jpeg, denominator, channels, &state);
        bytes_free(jpeg);
    }
    ck_assert_int_eq(ours, layouts[_i].arithmetic ? 0 : all);
    twin_end(&twin);
}

TEST(a_scale_that_is_none_and_a_region_outside_are_refused)
{
    const struct bytes jpeg = jpeg_make(30, 20, &layouts[0]);
    struct imrec_image_info info;
    struct imrec_error err;
    struct image out = {0};
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(codec_begin(c, jpeg, &limits, &info, NULL), IMREC_OK);
    const struct imrec_rect all = {0, 0, 15, 10}, more = {0, 0, 15, 11};
    ck_assert_int_eq(codec_decode_scaled_region(c, 3, all, 1, &out, NULL, &err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(codec_decode_scaled_region(c, 2, more, 1, &out, NULL, &err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(codec_decode_scaled_region(c, 2, all, 1, &out, NULL, &err), IMREC_OK);
    image_free(&out);
    codec_free(c);
    bytes_free(jpeg);
}

/* ---- kernels -------------------------------------------------------------------------------- */

LOOP_TEST(variants_are_equal_for_any_block, 0, 2) /* _i: 4 x 4, 2 x 2 */
{
    static _Alignas(64) int16_t coef[64];
    uint16_t quant[64];
    for (uint32_t i = 0; i < 60000; i++) {
        const uint32_t size = 1u << (i % 16);
        for (int k = 0; k < 64; k++) {
            coef[k] = (int16_t)(rnd(3) == 0 || i % 2 == 0 ? rnd(2 * size) - size : 0);
            quant[k] = (uint16_t)(1 + rnd(i % 3 == 0 ? 255 : 8));
        }
        uint8_t want[4][9] = {{0}}, got[4][9];
        const struct baseline_kernels *k = &baseline_kernels[CPU_SCALAR];
        (_i == 0 ? k->idct_4 : k->idct_2)(coef, quant, 63, want[0], 9);
        EVERY_VARIANT(level)
        {
            memset(got, 0, sizeof(got));
            k = &baseline_kernels[level];
            (_i == 0 ? k->idct_4 : k->idct_2)(coef, quant, 63, got[0], 9);
            ck_assert_mem_eq(got, want, sizeof(want));
        }
    }
}
