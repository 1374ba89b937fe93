/* Colours: every variant equals the scalar, byte by byte and beyond no row's end; the scalar
 * equals the formulas. */
#include "augment/colour/colour_kernels.h"
#include "base/rng.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

static uint64_t draw(uint64_t test, uint32_t number)
{
    return rng_block((struct rng_key){79, 0}, test, number, 0, RNG_AUGMENT).v[0];
}

static void paint(uint8_t *px, size_t n, uint64_t test)
{
    for (size_t i = 0; i < n; i++)
        px[i] = (uint8_t)(draw(test, (uint32_t)(i / 8)) >> i % 8 * 8);
    for (size_t i = 0; test % 4 == 1 && i < n; i++)
        px[i] = (uint8_t) - (px[i] & 1); /* 0 and 255 */
    for (size_t i = 0; test % 4 == 2 && i < n; i++)
        px[i] = (uint8_t)(px[i / 3 * 3] + (px[i] & 3)); /* nearly grey */
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { KERNELS = 4 };

static uint64_t
run(int kernel, enum cpu_level level, uint64_t test, uint8_t *px, uint32_t n, uint32_t channels)
{
    const struct colour_kernels *k = &colour_kernels[level];
    const struct grey_weights weights[2] = {{1868, 9617, 4899, 14}, {19595, 38470, 7471, 16}};
    const float factor = (float)(draw(test, 900) >> 40) / (float)(1 << 23) - 0.1f;
    const int32_t shift[3] = {(int32_t)(draw(test, 901) % 361) - 180,
                              (int32_t)(draw(test, 902) % 511) - 255,
                              (int32_t)(draw(test, 903) % 511) - 255};
    uint8_t map[3][256];
    paint(map[0], sizeof(map), test + 1);
    switch (kernel) {
    case 0:
        k->colour_map(px, n, channels, (const uint8_t(*)[256])map);
        return 0;
    case 1:
        return k->grey_sum(&weights[test % 2], px, n, channels);
    case 2:
        k->saturation(&weights[test % 2], factor, px, n, channels);
        return 0;
    default:
        k->hls_shift(shift, px, n, channels);
        return 0;
    }
}

CASE(.timeout = 60)

LOOP_TEST(every_variant_gives_the_bytes_of_the_scalar, 0, KERNELS) /* _i: kernels */
{
    for (uint64_t t = 0; t < 400; t++) {
        const uint32_t channels = t % 2 ? 4 : t % 8 == 6 && _i == 0 ? 1 : 3;
        const uint32_t n = 1 + (uint32_t)(draw(t, 700) % (t % 5 == 0 ? 300 : 40));
        const size_t bytes = (size_t)n * channels;
        uint8_t *from = malloc(bytes), *want = malloc(bytes);
        paint(from, bytes, t);
        memcpy(want, from, bytes);
        const uint64_t sum = run(_i, CPU_SCALAR, t, want, n, channels);
        for (int l = 1; l < CPU_LEVELS; l++) {
            if (!cpu_has((enum cpu_level)l))
                continue;
            struct guarded got = guarded_copy(from, bytes);
            ck_assert_uint_eq(run(_i, (enum cpu_level)l, t, got.p, n, channels), sum);
            ck_assert_msg(memcmp(got.p, want, bytes) == 0, "kernel %d, %s, %u px x %u", _i,
                          cpu_level_name((enum cpu_level)l), n, channels);
            guarded_free(got);
        }
        free(from);
        free(want);
    }
}

TEST(alpha_is_left_alone)
{
    uint8_t px[4 * 50];
    for (int kernel = 0; kernel < KERNELS; kernel++)
        for (int l = 0; l < CPU_LEVELS; l++) {
            paint(px, sizeof(px), 4);
            for (size_t i = 3; i < sizeof(px); i += 4)
                px[i] = (uint8_t)i;
            if (cpu_has((enum cpu_level)l))
                run(kernel, (enum cpu_level)l, 4, px, 50, 4);
            for (size_t i = 3; i < sizeof(px); i += 4)
                ck_assert_uint_eq(px[i], i % 256);
        }
}

/* ---- images -------------------------------------------------------------------------------- */

static struct imrec_image three_by_two(uint8_t *px, uint32_t channels)
{
    paint(px, 24, 0);
    return (struct imrec_image){px, 3 * (size_t)channels, 3, 2, channels};
}

static int sat(double v)
{
    return v < 0 ? 0 : v > 255 ? 255 : (int)rint(v);
}

/* Blue gets red's weight, as the original has it. */
static double grey(const uint8_t *px)
{
    return floor((4899.0 * px[2] + 9617.0 * px[1] + 1868.0 * px[0] + 8192) / 16384);
}

TEST(brightness_contrast_and_saturation_are_what_they_say)
{
    uint8_t a[24], b[24];
    const float f = 1.3f;
    double mean = 0;
    (void)three_by_two(a, 3);
    struct imrec_image p = three_by_two(b, 3);
    colour_brightness(&p, f, CPU_SCALAR);
    for (int i = 0; i < 18; i++)
        ck_assert_int_eq(b[i], sat((double)((float)a[i] * f)));
    p = three_by_two(b, 3);
    for (int i = 0; i < 6; i++)
        mean += grey(a + 3 * i) / 6;
    colour_contrast(&p, &grey_of_original, f, CPU_SCALAR);
    for (int i = 0; i < 18; i++)
        ck_assert_double_le(
            fabs(b[i] - fmin(fmax(a[i] * (double)f + (1 - (double)f) * mean, 0), 255)), 0.501);
    p = three_by_two(b, 3);
    colour_saturation(&p, &grey_of_original, f, CPU_SCALAR);
    for (int i = 0; i < 18; i++) {
        const double want = a[i] * (double)f + (1 - (double)f) * grey(a + i / 3 * 3);
        ck_assert_double_le(fabs(b[i] - fmin(fmax(want, 0), 255)), 0.501);
    }
}

TEST(a_factor_of_one_and_shifts_of_nothing_change_little) /* HLS has bytes of its own */
{
    uint8_t a[24], b[24];
    (void)three_by_two(a, 3);
    const struct imrec_image p = three_by_two(b, 3);
    const float nothing[3] = {0, 0, 0};
    colour_brightness(&p, 1, CPU_SCALAR);
    colour_contrast(&p, &grey_of_original, 1, CPU_SCALAR);
    colour_saturation(&p, &grey_of_original, 1, CPU_SCALAR);
    colour_light(&p, nothing, CPU_SCALAR);
    ck_assert_mem_eq(a, b, 18);
    colour_hls(&p, 0, 0, 0, CPU_SCALAR);
    for (int i = 0; i < 18; i++)
        ck_assert_int_le(abs(a[i] - b[i]), 5);
}

TEST(light_is_added_and_cut_off_behind_the_point)
{
    uint8_t px[3] = {10, 250, 3};
    const struct imrec_image p = {px, 3, 1, 1, 3};
    const float add[3] = {-0.1f, 9, -3.5f};
    colour_light(&p, add, CPU_SCALAR);
    ck_assert_uint_eq(px[0], 9); /* a tiny shift darkens by one */
    ck_assert_uint_eq(px[1], 255);
    ck_assert_uint_eq(px[2], 0);
}

TEST(grey_images_take_brightness_and_contrast_only)
{
    uint8_t a[24], b[24];
    (void)three_by_two(a, 1);
    const struct imrec_image p = three_by_two(b, 1);
    colour_saturation(&p, &grey_of_original, 0, CPU_SCALAR);
    colour_hls(&p, 90, 40, 40, CPU_SCALAR);
    ck_assert_mem_eq(a, b, 6);
    colour_contrast(&p, &grey_of_original, 0, CPU_SCALAR); /* all become the mean */
    const double mean = (a[0] + a[1] + a[2] + a[3] + a[4] + a[5]) / 6.0;
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(b[i], sat((double)(float)mean));
}
