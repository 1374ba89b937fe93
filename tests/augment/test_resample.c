/* The packer's resampling: variants equal the scalar, the scalar is the exact filter to a rounding,
 * and its quality is at least that of area and bilinear. */
#include "augment/resize/resample_passes.h"
#include "base/rng.h"
#include "tests/support/guard.h"

#include "tests/support/suite.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct image from, made, other;
static struct resize_scratch *scratch;

static void begin(void)
{
    ck_assert_int_eq(resize_scratch_new(&scratch, NULL), IMREC_OK);
}

static void end(void)
{
    resize_scratch_free(scratch);
    image_free(&from);
    image_free(&made);
    image_free(&other);
}

static uint64_t bits(uint64_t a, uint64_t b)
{
    return rng_block((struct rng_key){7, 0}, a, b, 0, RNG_AUGMENT).v[0];
}

static void noise(uint32_t width, uint32_t height, uint32_t channels, uint64_t seed)
{
    ck_assert_int_eq(image_resize_buffer(&from, width, height, channels, NULL), IMREC_OK);
    for (size_t i = 0; i < (size_t)width * height * channels; i++)
        from.view.pixels[i] = (uint8_t)(seed % 2 ? bits(seed, i) % 2 * 255 : bits(seed, i));
}

/* An image with edges, waves and grain: what a photograph has. */
static double scene(uint32_t x, uint32_t y, unsigned c)
{
    const double u = x / 500.0, v = y / 375.0;
    const double wave = sin(60 * u * u + 19 * v) * cos(51 * v - 25 * u * v + c);
    const double edge = (u - 0.4) * (u - 0.4) + (v - 0.6) * (v - 0.6) < 0.06 ? 60 : 0;
    const double grain = (double)(bits((uint64_t)y * 500 + x, c) % 17) - 8;
    return fmin(255, fmax(0, 100 + 40 * wave + edge + 30 * (v - u) + grain));
}

/* ---- the reference: Lanczos-3, widened by the shrink factor, in double ---------------------- */

static double lanczos(double x)
{
    const double pi = 3.14159265358979323846;
    if (fabs(x) < 1e-9)
        return 1;
    return fabs(x) < 3 ? 3 * sin(pi * x) * sin(pi * x / 3) / (pi * pi * x * x) : 0;
}

/* Along one axis: `n` lines of `from` values, `step` apart, into `to` values. */
static double lanczos_at(const double *line, size_t step, uint32_t n, uint32_t to, uint32_t at)
{
    const double shrink = (double)n / to, scale = shrink > 1 ? shrink : 1;
    const double centre = (at + 0.5) * shrink;
    double sum = 0, weights = 0;
    for (int k = (int)(centre - 3 * scale) - 1; k <= (int)(centre + 3 * scale) + 1; k++) {
        if (k < 0 || k >= (int)n)
            continue;
        const double w = lanczos((k + 0.5 - centre) / scale);
        sum += w * line[(size_t)k * step];
        weights += w;
    }
    return sum / weights;
}

static double *reference(const struct imrec_image *i, uint32_t tw, uint32_t th)
{
    const size_t w = i->width, h = i->height;
    double *in = malloc(w * h * 3 * sizeof(double)), *mid = malloc(tw * h * 3 * sizeof(double));
    double *out = malloc((size_t)tw * th * 3 * sizeof(double));
    for (size_t k = 0; k < w * h * 3; k++)
        in[k] = i->pixels[k];
    for (size_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < tw; x++)
            for (size_t c = 0; c < 3; c++)
                mid[(y * tw + x) * 3 + c] = lanczos_at(in + y * w * 3 + c, 3, i->width, tw, x);
    for (uint32_t y = 0; y < th; y++)
        for (size_t x = 0; x < tw; x++)
            for (size_t c = 0; c < 3; c++)
                out[(y * tw + x) * 3 + c] =
                    lanczos_at(mid + x * 3 + c, (size_t)tw * 3, i->height, th, y);
    free(in);
    free(mid);
    return out;
}

static double psnr(const struct imrec_image *i, const double *want)
{
    double square = 0;
    const size_t n = (size_t)i->width * i->height * 3;
    for (size_t k = 0; k < n; k++)
        square += (i->pixels[k] - want[k]) * (i->pixels[k] - want[k]);
    return 10 * log10(255.0 * 255 * (double)n / square);
}

/* All variants of one image, which ends at an unmapped page. */
static void compare_levels(uint32_t tw, uint32_t th, uint32_t padding)
{
    const uint32_t w = from.view.width, h = from.view.height, channels = from.view.channels;
    const size_t row = (size_t)w * channels, stride = row + padding, bytes = stride * (h - 1) + row;
    uint8_t *padded = malloc(bytes);
    memset(padded, 77, bytes);
    for (uint32_t y = 0; y < h; y++)
        memcpy(padded + y * stride, from.view.pixels + y * row, row);
    struct guarded source = guarded_copy(padded, bytes);
    const struct imrec_image view = {source.p, stride, w, h, channels};
    ck_assert_int_eq(resample_at(&from.view, tw, th, &made, scratch, CPU_SCALAR, NULL), IMREC_OK);
    for (int level = CPU_SCALAR; level < CPU_LEVELS; level++) {
        if (!cpu_has((enum cpu_level)level))
            continue;
        ck_assert_int_eq(resample_at(&view, tw, th, &other, scratch, (enum cpu_level)level, NULL),
                         IMREC_OK);
        ck_assert_msg(memcmp(made.view.pixels, other.view.pixels, (size_t)tw * th * channels) == 0,
                      "%s: %u x %u -> %u x %u, %u channels", cpu_level_name((enum cpu_level)level),
                      w, h, tw, th, channels);
    }
    guarded_free(source);
    free(padded);
}

CASE(.timeout = 120)

/* Rows between the passes have whole lines of 64 values: here no value is left over. */
LOOP_TEST(rows_that_fill_their_lines_do_not_meet, 1, 5) /* _i: width of the result, 64 px */
{
    begin();
    for (uint32_t channels = 1; channels <= 4; channels += 2 - channels / 3)
        for (uint32_t height = 20; height < 70; height += 24) {
            noise(64 * (uint32_t)_i + 37, 69, channels, (uint64_t)_i);
            compare_levels(64 * (uint32_t)_i, height, 0);
        }
    end();
}

LOOP_TEST(every_variant_equals_the_scalar, 0, 90) /* _i: a size */
{
    begin();
    noise(1 + (uint32_t)(bits(_i, 1) % 70), 1 + (uint32_t)(bits(_i, 2) % 50),
          (const uint32_t[]){1, 3, 4}[_i % 3], (uint64_t)_i);
    compare_levels(1 + (uint32_t)(bits(_i, 3) % 60), 1 + (uint32_t)(bits(_i, 4) % 60),
                   (uint32_t)_i % 2 * 5);
    end();
}

/* By width: windows of one kind, of two, and none that fit. */
static const uint32_t large[][4] = {{500, 37, 341, 25}, {333, 40, 256, 31}, {640, 41, 200, 11},
                                    {640, 41, 341, 29}, {600, 30, 157, 9},  {700, 30, 101, 8},
                                    {900, 33, 60, 4},   {100, 20, 341, 90}, {3000, 9, 1, 1},
                                    {9, 3000, 2, 3},    {700, 30, 70, 4},   {250, 40, 249, 39},
                                    {250, 40, 251, 41}};

LOOP_TEST(every_variant_equals_the_scalar_in_sizes_of_photographs, 0, COUNT(large)) /* _i: a size */
{
    begin();
    for (uint32_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1)
        for (uint64_t seed = 0; seed < 2; seed++) {
            noise(large[_i][0], large[_i][1], channels, seed);
            compare_levels(large[_i][2], large[_i][3], 0);
        }
    end();
}

/* ---- the filter itself, in double ------------------------------------------------------------ */

static double keys(double x)
{
    x = fabs(x);
    if (x >= 2)
        return 0;
    return x < 1 ? 1 - 2.5 * x * x + 1.5 * x * x * x : 2 - 4 * x + 2.5 * x * x - 0.5 * x * x * x;
}

static void axis_weights(double *weights, uint32_t n, uint32_t to, uint32_t at)
{
    const double shrink = (double)n / to, scale = shrink > 1 ? shrink : 1;
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum += weights[k] = keys((k + 0.5 - (at + 0.5) * shrink) / scale);
    for (uint32_t k = 0; k < n; k++)
        weights[k] /= sum;
}

static double exact_at(uint32_t x, uint32_t tw, uint32_t y, uint32_t th, uint32_t c)
{
    const struct imrec_image *i = &from.view;
    double across[50], along[70], sum = 0;
    axis_weights(along, i->width, tw, x);
    axis_weights(across, i->height, th, y);
    for (uint32_t v = 0; v < i->height; v++)
        for (uint32_t u = 0; u < i->width; u++)
            sum += across[v] * along[u] * i->pixels[v * i->stride + u * i->channels + c];
    return fmin(255, fmax(0, sum));
}

LOOP_TEST(values_are_those_of_the_filter_to_a_rounding, 0, 40) /* _i: a size */
{
    begin();
    const uint32_t tw = 1 + (uint32_t)(bits(_i, 3) % 60), th = 1 + (uint32_t)(bits(_i, 4) % 60);
    noise(1 + (uint32_t)(bits(_i, 1) % 70), 1 + (uint32_t)(bits(_i, 2) % 50), 3, (uint64_t)_i);
    ck_assert_int_eq(resample(&from.view, tw, th, &made, scratch, NULL), IMREC_OK);
    for (uint32_t k = 0; k < 200; k++) {
        const uint32_t x = (uint32_t)(bits(k, 1) % tw), y = (uint32_t)(bits(k, 2) % th);
        const double off =
            made.view.pixels[y * made.view.stride + x * 3 + k % 3] - exact_at(x, tw, y, th, k % 3);
        ck_assert_double_le(fabs(off), 0.56); /* half a level, and the weights' 14 bits */
    }
    end();
}

TEST(tables_kept_from_other_images_change_nothing)
{
    begin();
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t k = 0; k < 3 * SCRATCH_TABLES; k += 1 + round) {
            struct resize_scratch *own;
            noise(20 + k % 29, 30 - k % 13, k % 2 ? 3 : 1, k);
            ck_assert_int_eq(resize_scratch_new(&own, NULL), IMREC_OK);
            ck_assert_int_eq(resample(&from.view, 9 + k % 5, 17, &made, scratch, NULL), IMREC_OK);
            ck_assert_int_eq(resample(&from.view, 9 + k % 5, 17, &other, own, NULL), IMREC_OK);
            ck_assert_mem_eq(made.view.pixels, other.view.pixels,
                             made.view.stride * made.view.height);
            resize_scratch_free(own);
        }
    const size_t memory = resize_scratch_memory(scratch);
    noise(20, 30, 1, 0);
    ck_assert_int_eq(resample(&from.view, 9, 17, &made, scratch, NULL), IMREC_OK);
    ck_assert_uint_eq(resize_scratch_memory(scratch), memory);
    end();
}

TEST(equal_sizes_and_flat_images_stay_as_they_are)
{
    begin();
    noise(37, 29, 3, 4);
    ck_assert_int_eq(resample(&from.view, 37, 29, &made, scratch, NULL), IMREC_OK);
    ck_assert_mem_eq(made.view.pixels, from.view.pixels, 37u * 29 * 3);
    memset(from.view.pixels, 201, 37u * 29 * 3);
    ck_assert_int_eq(resample(&from.view, 11, 90, &made, scratch, NULL), IMREC_OK);
    for (size_t i = 0; i < 11u * 90 * 3; i++)
        ck_assert_uint_eq(made.view.pixels[i], 201);
    end();
}

static const uint32_t to_sizes[][2] = {{341, 256}, {171, 128}, {83, 62}, {640, 480}};

LOOP_TEST(quality_is_at_least_that_of_area_and_bilinear, 0, 4) /* _i: a size to make of 500 x 375 */
{
    begin();
    const uint32_t w = to_sizes[_i][0], h = to_sizes[_i][1];
    ck_assert_int_eq(image_resize_buffer(&from, 500, 375, 3, NULL), IMREC_OK);
    for (uint32_t y = 0; y < 375; y++)
        for (uint32_t x = 0; x < 500; x++)
            for (unsigned c = 0; c < 3; c++)
                from.view.pixels[(y * 500 + x) * 3 + c] = (uint8_t)lrint(scene(x, y, c));
    double *want = reference(&from.view, w, h), by[4] = {0};
    ck_assert_int_eq(image_resize_buffer(&made, w, h, 3, NULL), IMREC_OK);
    for (int method = 1; method <= 3; method += 2) {
        ck_assert_int_eq(imrec_image_resize(&from.view, &made.view, method, NULL), IMREC_OK);
        by[method] = psnr(&made.view, want);
    }
    ck_assert_int_eq(resample(&from.view, w, h, &made, scratch, NULL), IMREC_OK);
    const double ours = psnr(&made.view, want);
    free(want);
    printf("500 x 375 -> %u x %u: PSNR %.2f dB, area %.2f, bilinear %.2f\n", w, h, ours, by[3],
           by[1]);
    ck_assert_double_ge(ours, fmax(by[1], by[3]));
    end();
}
