/* Hue, blur, sharpness, mixing: variants equal the scalar, and do what they say. */
#include "augment/colour/colour_kernels.h"
#include "base/rng.h"
#include "tests/support/guard.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <math.h>

static uint8_t bits(uint64_t test, size_t i)
{
    return (uint8_t)rng_block((struct rng_key){81, test}, i, 0, 0, RNG_AUGMENT).v[0];
}

static uint8_t *noise(size_t n, uint64_t test)
{
    uint8_t *p = malloc(n);
    for (size_t i = 0; i < n; i++)
        p[i] = test % 3 == 0 ? (uint8_t) - (bits(test, i) & 1) : bits(test, i);
    return p;
}

CASE(.begin = scratch_make, .end = scratch_free, .timeout = 60)

/* ---- variants ----------------------------------------------------------------------------------
 */

TEST(hues_are_turned_alike_by_every_variant)
{
    for (uint64_t t = 0; t < 300; t++) {
        const uint32_t channels = t % 2 ? 3 : 4, n = 1 + (uint32_t)(t * 7 % 90);
        const size_t bytes = (size_t)n * channels;
        const float turn = (float)(t % 60) / 10;
        uint8_t *from = noise(bytes, t), *want = noise(bytes, t);
        hue_turn_scalar(turn, want, n, channels);
        for (int l = 1; l < CPU_LEVELS; l++) {
            if (!cpu_has((enum cpu_level)l))
                continue;
            struct guarded got = guarded_copy(from, bytes);
            colour_kernels[l].hue_turn(turn, got.p, n, channels);
            ck_assert_mem_eq(got.p, want, bytes);
            guarded_free(got);
        }
        free(from);
        free(want);
    }
}

TEST(three_by_three_means_are_alike_by_every_variant)
{
    for (uint64_t t = 0; t < 100; t++) {
        const size_t n = 1 + t * 5 % 70, step = 1 + t % 4, row = n + 2 * step;
        uint8_t *p = noise(3 * row, t), *want = malloc(n);
        struct guarded from = guarded_copy(p, 3 * row);
        const uint8_t *const rows[3] = {from.p + step, from.p + row + step,
                                        from.p + 2 * row + step};
        smooth_scalar(rows, (uint32_t)step, want, n);
        for (size_t i = 0; i < n; i++) {
            double sum = 4 * rows[1][i];
            for (int k = 0; k < 9; k++)
                sum += p[(size_t)(k / 3) * row + i + (size_t)(k % 3) * step];
            ck_assert_int_eq(want[i], (int)floor(sum / 13 + 0.5));
        }
        for (int l = 1; l < CPU_LEVELS; l++) {
            if (!cpu_has((enum cpu_level)l))
                continue;
            struct guarded got = guarded_copy(want, n);
            memset(got.p, 0, n);
            colour_kernels[l].smooth(rows, (uint32_t)step, got.p, n);
            ck_assert_mem_eq(got.p, want, n);
            guarded_free(got);
        }
        guarded_free(from);
        free(p);
        free(want);
    }
}

TEST(mixtures_are_alike_by_every_variant)
{
    for (uint64_t t = 0; t < 100; t++) {
        const size_t n = 1 + t * 3 % 80;
        const float factor = (float)t / 40;
        uint8_t *a = noise(n, t), *b = noise(n, t + 1000), *want = noise(n, t);
        mix_scalar(factor, want, b, n);
        for (int l = 1; l < CPU_LEVELS; l++) {
            if (!cpu_has((enum cpu_level)l))
                continue;
            struct guarded got = guarded_copy(a, n), other = guarded_copy(b, n);
            colour_kernels[l].mix(factor, got.p, other.p, n);
            ck_assert_mem_eq(got.p, want, n);
            guarded_free(got);
            guarded_free(other);
        }
        free(a);
        free(b);
        free(want);
    }
}

static struct imrec_image image(uint32_t w, uint32_t h, uint32_t channels, uint64_t test)
{
    const size_t stride = (size_t)w * channels;
    return (struct imrec_image){noise(stride * h, test), stride, w, h, channels};
}

TEST(blurred_images_are_alike_by_every_variant_and_near_the_filter)
{
    for (uint64_t t = 1; t < 40; t++) {
        const float sigma = 0.2f + (float)t / 10;
        const uint32_t w = 1 + (uint32_t)(t * 5 % 37), h = 1 + (uint32_t)(t * 11 % 29);
        const uint32_t c = t % 3 == 0 ? 1 : t % 3 == 1 ? 3 : 4;
        const struct imrec_image a = image(w, h, c, t), b = image(w, h, c, t);
        ck_assert_int_eq(blur(&a, sigma, scratch, CPU_SCALAR, NULL), IMREC_OK);
        for (int l = 1; l < CPU_LEVELS; l++) {
            if (!cpu_has((enum cpu_level)l))
                continue;
            const struct imrec_image k = image(w, h, c, t);
            ck_assert_int_eq(blur(&k, sigma, scratch, (enum cpu_level)l, NULL), IMREC_OK);
            ck_assert_mem_eq(a.pixels, k.pixels, a.stride * h);
            free(k.pixels);
        }
        if (w > 30 && h > 20 && sigma < 3) { /* far from the borders: the filter itself */
            double sum = 0, all = 0;
            for (int y = -9; y <= 9; y++)
                for (int x = -9; x <= 9; x++) {
                    const double r2 = x * x + y * y, s2 = (double)sigma * (double)sigma;
                    const double weight = exp(-0.5 * r2 / s2);
                    all += weight;
                    sum += weight * b.pixels[(size_t)(10 + y) * b.stride + (size_t)(15 + x) * c];
                }
            ck_assert_double_le(fabs(sum / all - a.pixels[10 * a.stride + 15 * (size_t)c]), 2);
        }
        free(a.pixels);
        free(b.pixels);
    }
}

/* ---- meanings ----------------------------------------------------------------------------------
 */

TEST(a_third_of_a_turn_makes_red_green)
{
    const struct imrec_image p = image(9, 5, 3, 1), was = image(9, 5, 3, 1);
    colour_hue(&p, 1.0f / 3, CPU_SCALAR);
    for (size_t i = 0; i < 45; i++) {
        ck_assert_int_le(abs(p.pixels[3 * i + 1] - was.pixels[3 * i]), 1);
        ck_assert_int_le(abs(p.pixels[3 * i + 2] - was.pixels[3 * i + 1]), 1);
        ck_assert_int_le(abs(p.pixels[3 * i] - was.pixels[3 * i + 2]), 1);
    }
    memcpy(p.pixels, was.pixels, 135);
    colour_hue(&p, 0, CPU_SCALAR);
    ck_assert_mem_eq(p.pixels, was.pixels, 135);
    free(p.pixels);
    free(was.pixels);
}

TEST(what_is_all_alike_stays_so_when_blurred_or_sharpened)
{
    const struct imrec_image p = image(20, 15, 3, 1);
    memset(p.pixels, 77, 900);
    ck_assert_int_eq(blur(&p, 1.5f, scratch, cpu_level(), NULL), IMREC_OK);
    ck_assert_int_eq(sharpen(&p, 3, scratch, cpu_level(), NULL), IMREC_OK);
    for (int i = 0; i < 900; i++)
        ck_assert_uint_eq(p.pixels[i], 77);
    free(p.pixels);
}

TEST(sharpness_leaves_alpha_and_the_outermost_pixels)
{
    const struct imrec_image p = image(8, 6, 4, 2), was = image(8, 6, 4, 2);
    ck_assert_int_eq(sharpen(&p, 2, scratch, cpu_level(), NULL), IMREC_OK);
    int changed = 0;
    for (size_t i = 0; i < 192; i++) {
        const size_t x = i / 4 % 8, y = i / 32;
        if (x == 0 || y == 0 || x == 7 || y == 5 || i % 4 == 3)
            ck_assert_uint_eq(p.pixels[i], was.pixels[i]);
        else
            changed += p.pixels[i] != was.pixels[i];
    }
    ck_assert_int_gt(changed, 40);
    free(p.pixels);
    free(was.pixels);
}

TEST(weighted_sums_are_alike_by_every_variant)
{
    for (uint64_t t = 0; t < 60; t++) {
        const size_t n = 1 + t * 3 % 77;
        const float share = (float)(t % 11) / 10;
        uint8_t *from = noise(n, t);
        float want[80], got[80];
        struct guarded px = guarded_copy(from, n);
        for (int l = 0; l < CPU_LEVELS; l++) {
            if (!cpu_has((enum cpu_level)l))
                continue;
            for (size_t i = 0; i < 80; i++)
                got[i] = (float)i * 1.7f;
            colour_kernels[l].weigh(share, px.p, got, n);
            for (size_t i = 0; l == CPU_SCALAR && i < 80; i++) {
                const float v = share * (float)from[i < n ? i : 0];
                want[i] = i < n ? (float)i * 1.7f + v : (float)i * 1.7f;
            }
            ck_assert_mem_eq(got, want, sizeof(want));
        }
        guarded_free(px);
        free(from);
    }
}
