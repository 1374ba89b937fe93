#include "augment/normalize/normalize_kernels.h"
#include "tests/support/guard.h"

#include "tests/support/suite.h"
#include <math.h>
#include <stdlib.h>

enum { H = 3, MAX_W = 224, MAX_VALUES = MAX_W * H * 4, FENCE = 64 };

static const uint32_t channel_counts[] = {1, 3, 4};
static uint8_t pixels[MAX_VALUES];
static float mean_image[MAX_VALUES];
/* Room for two images, so that a write outside one is seen. */
static _Alignas(64) uint8_t want[MAX_VALUES * 4 + 2 * FENCE], got[MAX_VALUES * 4 + 2 * FENCE];

static void fill(void)
{
    for (size_t i = 0; i < MAX_VALUES; i++) {
        pixels[i] = (uint8_t)(i * 151 + 7); /* 151 is odd, so all 256 values occur */
        mean_image[i] = (float)(i % 977) * 0.37f - 20;
    }
    mean_image[5] = NAN;
    mean_image[6] = 1e30f;
    mean_image[7] = -0.49999997f;
    mean_image[8] = 2.5f;
}

static struct normalize_job job_of(uint32_t width, uint32_t channels, enum imrec_dtype dtype,
                                   enum imrec_layout layout, bool mirror, bool image)
{
    struct normalize_job j = {
        .width = width,
        .height = H,
        .channels = channels,
        .how = {.mean = {123.68f, 116.779f, 103.939f, 7.5f},
                .std = {58.393f, 57.12f, 57.375f, 0.003f}, /* the last one overflows float16 */
                .scale = 0.7f,
                .mean_image = image ? mean_image : NULL,
                .dtype = dtype,
                .layout = layout,
                .mirror = mirror},
        .out = want + FENCE,
    };
    if (dtype == IMREC_UINT8 || dtype == IMREC_INT8) {
        for (int c = 0; c < 4; c++)
            j.how.std[c] = 1;
        j.how.scale = 1;
    }
    if (dtype == IMREC_UINT8)
        memset(j.how.mean, 0, sizeof(j.how.mean));
    return j;
}

/* Every row from a copy of its own that ends at an unmapped page. */
static void run(normalize_row_fn *row, struct normalize_job *j, uint8_t *memory)
{
    const size_t bytes = (size_t)j->width * j->channels;
    memset(memory, 0xa5, sizeof(want));
    j->out = memory + FENCE;
    for (uint32_t y = 0; y < H; y++) {
        struct guarded src = guarded_copy(pixels + y * bytes, bytes);
        row(j, src.p, y);
        guarded_free(src);
    }
    normalize_finish(j);
}

static void compare_levels(struct normalize_job *j)
{
    ck_assert_int_eq(normalize_prepare(j, NULL), IMREC_OK);
    run(normalize_kernels[CPU_SCALAR].row, j, want);
    for (int level = CPU_SCALAR + 1; level < CPU_LEVELS; level++)
        for (int stream = 0; stream < 2; stream++) {
            if (!cpu_has((enum cpu_level)level))
                continue;
            j->stream = stream != 0;
            run(normalize_kernels[level].row, j, got);
            ck_assert_msg(memcmp(want, got, sizeof(want)) == 0,
                          "%s, width %u, %u channels, dtype %d, layout %d, mirror %d, image %d",
                          cpu_level_name((enum cpu_level)level), j->width, j->channels,
                          j->how.dtype, j->how.layout, j->how.mirror, j->how.mean_image != NULL);
        }
}

CASE(.timeout = 60)

LOOP_TEST(every_variant_equals_the_scalar_truth_bit_for_bit, 0, 73) /* _i = width - 1 */
{
    static const uint32_t larger[] = {111, 128, 224};
    const uint32_t width = _i < 70 ? (uint32_t)_i + 1 : larger[_i - 70];
    fill();
    for (int c = 0; c < 3; c++)
        for (int variety = 0; variety < 5 * 16; variety++) {
            const enum imrec_dtype dtype = variety / 16;
            const bool image = (variety & 8) != 0;
            struct normalize_job j =
                job_of(width, channel_counts[c], dtype, variety & 1, variety >> 1 & 1, image);
            j.flip = (variety & 4) != 0;
            if (dtype != IMREC_UINT8 || !image)
                compare_levels(&j);
        }
}

/* What the definition says of one value, written down a second time. */
static float by_definition(const struct normalize_job *j, uint32_t c, uint32_t y, uint32_t x)
{
    const uint32_t from = j->how.mirror ? j->width - 1 - x : x;
    y = j->flip ? H - 1 - y : y;
    const float px = pixels[((size_t)y * j->width + from) * j->channels + c];
    const float mean = j->how.mean_image != NULL
                           ? j->how.mean_image[((size_t)c * H + y) * j->width + from]
                           : j->how.mean[c];
    if (j->how.dtype == IMREC_INT8)
        return fminf(fmaxf(px - roundf(mean), -128), 127);
    const float less = px - mean, gain = j->how.scale / j->how.std[c];
    return j->how.dtype == IMREC_UINT8 ? px : less * gain;
}

LOOP_TEST(values_are_those_of_the_definition, 0, 32) /* _i: dtype, layout, mirror, image, flip */
{
    const enum imrec_dtype dtype = (_i & 1) != 0 ? IMREC_FLOAT32 : IMREC_INT8;
    fill();
    mean_image[5] = 3; /* NaN is not equal to itself */
    struct normalize_job j =
        job_of(29, 3, dtype, _i >> 1 & 1, (_i >> 2 & 1) != 0, (_i >> 3 & 1) != 0);
    j.flip = _i >> 4 != 0;
    ck_assert_int_eq(normalize_prepare(&j, NULL), IMREC_OK);
    run(normalize_row(), &j, got);
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < 29; x++) {
                const size_t at =
                    j.how.layout == IMREC_NCHW ? (c * H + y) * 29 + x : (y * 29 + x) * 3 + c;
                const float value = dtype == IMREC_FLOAT32
                                        ? ((const float *)(const void *)(got + FENCE))[at]
                                        : ((const int8_t *)(got + FENCE))[at];
                ck_assert_msg(value == by_definition(&j, c, y, x), "c %u y %u x %u", c, y, x);
            }
}

static double half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31;
    const double fraction = h & 1023;
    const double size =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 != 0 ? -size : size;
}

LOOP_TEST(float16_is_the_nearest_and_the_even_one_at_a_tie, 0,
          2) /* _i: less a mean, times a scale */
{
    fill();
    if (_i == 1)
        pixels[0] = 1; /* values keep all bits, those too that are less than float16's least */
    for (int e = -30; e < 17; e++)
        for (uint32_t step = 0; step < 64; step++) {
            struct normalize_job j = job_of(1, 1, IMREC_FLOAT16, IMREC_NCHW, false, false);
            const float value = ldexpf(1 + (float)step / 4096 + (step % 3 == 0 ? 0x1p-20f : 0), e);
            j.how.mean[0] = _i == 0 ? (float)pixels[0] - value : 0;
            j.how.std[0] = 1;
            j.how.scale = _i == 0 ? 1 : value;
            j.height = 1;
            const float exact = _i == 0 ? (float)pixels[0] - j.how.mean[0] : value;
            ck_assert_int_eq(normalize_prepare(&j, NULL), IMREC_OK);
            normalize_row_scalar(&j, pixels, 0);
            uint16_t half;
            memcpy(&half, want + FENCE, 2);
            if (exact >= 65520) {
                ck_assert_uint_eq(half, 0x7c00);
                continue;
            }
            const double off = fabs(half_value(half) - (double)exact);
            const double up = fabs(half_value((uint16_t)(half + 1)) - (double)exact);
            const double down =
                half == 0 ? INFINITY : fabs(half_value((uint16_t)(half - 1)) - (double)exact);
            ck_assert_msg(off <= up && off <= down, "%a became %04x", (double)exact, half);
            ck_assert((off < up && off < down) || (half & 1) == 0);
        }
}

static double upper_half_value(uint32_t h)
{
    const uint32_t bits = h << 16;
    float v;
    memcpy(&v, &bits, sizeof(v));
    return (double)v;
}

/* Pixels 0 and 1 with every exponent, and lower halves around a tie. */
LOOP_TEST(bfloat16_is_the_nearest_and_the_even_one_at_a_tie, 0, 254) /* _i + 1: exponent */
{
    static const uint32_t fractions[] = {0,        1,        0x7fff,   0x8000,   0x8001,  0xffff,
                                         0x10000,  0x17fff,  0x18000,  0x18001,  0x1ffff, 0x7f7fff,
                                         0x7f8000, 0x7f8001, 0x7fffff, 0x408000, 0x418000};
    pixels[0] = 1;
    for (size_t i = 0; i < COUNT(fractions); i++) {
        const uint32_t bits = ((uint32_t)_i + 1) << 23 | fractions[i];
        struct normalize_job j = job_of(1, 1, IMREC_BFLOAT16, IMREC_NCHW, false, false);
        uint16_t half;
        memcpy(&j.how.scale, &bits, sizeof(bits));
        j.how.mean[0] = 0, j.how.std[0] = 1;
        ck_assert_int_eq(normalize_prepare(&j, NULL), IMREC_OK);
        run(normalize_row_scalar, &j, got);
        memcpy(&half, got + FENCE, sizeof(half));
        const double exact = (double)j.how.scale, is = upper_half_value(half);
        const double up = upper_half_value((uint32_t)half + 1), down = upper_half_value(half - 1u);
        if (isinf(is)) { /* half way beyond the largest number, or more */
            ck_assert(bits >= 0x7f7f8000u);
            continue;
        }
        const double off = fabs(exact - is);
        const double above = isinf(up) ? ldexp(1, 128) - exact : fabs(up - exact);
        ck_assert_msg(off <= above && off <= fabs(exact - down), "%a became %04x", exact, half);
        ck_assert((off < above && off < fabs(exact - down)) || (half & 1) == 0);
    }
}

TEST(what_a_dtype_cannot_take_is_refused_with_a_sentence)
{
    struct imrec_error err;
    struct normalize_job j = job_of(4, 3, IMREC_UINT8, IMREC_NCHW, false, false);
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_OK);
    j.how.mean[1] = 1;
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "mean"));
    j.how.mean[1] = 0, j.how.std[2] = 2;
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_ERR_ARGUMENT);
    j.how.std[2] = 1, j.how.scale = 0.5f;
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_ERR_ARGUMENT);
    j.how.dtype = IMREC_INT8;
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_ERR_ARGUMENT);
    j.how.dtype = IMREC_FLOAT32;
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_OK);
    j.how.std[0] = 0;
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_ERR_ARGUMENT);
    j.how.std[0] = 1, j.how.mean[0] = NAN;
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_ERR_ARGUMENT);
    j.how.mean[0] = 0, j.how.mean[3] = NAN; /* there is no fourth channel */
    ck_assert_int_eq(normalize_prepare(&j, &err), IMREC_OK);
}
