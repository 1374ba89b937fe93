/* tests/codec/test_jpeg_encoder.c - our encoder gives libjpeg's bytes at every level, and its
 * kernels the scalar truth's. */
#include "base/alloc.h"
#include "base/rng.h"
#include "base/stop.h"
#include "codec/jpeg/encode/forward_kernels.h"
#include "codec/jpeg/encode/jpeg_encoder.h"
#include "codec/jpeg/recode/symbol_words.h"
#include "tests/support/baseline_variants.h"
#include "tests/support/by_libjpeg.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(uint64_t i, uint32_t k)
{
    return rng_block((struct rng_key){11, 0}, i, k, 0, RNG_AUGMENT).v[0];
}

/* ---- whole images --------------------------------------------------------------------------- */

enum { NOISE, EXTREMES, CHECKS, SMOOTH, SPARSE, CONTENTS };

static uint8_t value(uint32_t content, uint32_t x, uint32_t y, uint32_t channel)
{
    const uint64_t noise = draw(x + 100003u * y, channel);
    switch (content) {
    case NOISE:
        return (uint8_t)noise;
    case EXTREMES:
        return noise & 1 ? 255 : 0;
    case CHECKS: /* the largest coefficients there are */
        return (x >> channel ^ y) & 1 ? 255 : 0;
    case SMOOTH:
        return (uint8_t)(x / 3 + 2 * y + 40 * channel);
    default: /* long runs of zeros */
        return (uint8_t)(noise % 50 == 0 ? noise >> 8 : 99);
    }
}

static void paint(struct imrec_image *image, uint32_t content)
{
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            for (uint32_t c = 0; c < image->channels; c++)
                image->pixels[y * image->stride + x * image->channels + c] =
                    value(content, x, y, c);
}

static void compare(struct jpeg_encoder *e, uint32_t width, uint32_t height, uint32_t channels,
                    const struct jpeg_encoding *how, uint32_t content)
{
    struct imrec_image image = {NULL, (size_t)width * channels + 5, width, height, channels};
    struct buf ours = BUF_INIT((size_t)1 << 28);
    unsigned char *theirs;
    /* to the last byte, not further */
    image.pixels = malloc(image.stride * (height - 1) + (size_t)width * channels);
    paint(&image, content);
    const size_t n = by_libjpeg(
        &image, (struct by_libjpeg){how->quality, how->tile, how->full_chroma, true}, &theirs);
    EVERY_VARIANT(level)
    {
        jpeg_encoder_use(e, level);
        ck_assert_int_eq(jpeg_encode(e, &image, how, NULL, &ours, NULL), IMREC_OK);
        ck_assert_msg(ours.n == n && memcmp(ours.p, theirs, n) == 0,
                      "%s, %u x %u x %u, quality %d, content %u: %zu bytes, libjpeg %zu",
                      cpu_level_name(level), width, height, channels, how->quality, content, ours.n,
                      n);
    }
    ck_assert_uint_gt(jpeg_encoder_memory(e), (size_t)width * height * channels);
    ck_assert_uint_le(jpeg_encoder_memory(e),
                      jpeg_encoder_claim(width, height, channels, how->full_chroma) + (1 << 20));
    buf_free(&ours);
    free(theirs);
    free(image.pixels);
}

CASE(.timeout = 60)

TEST(every_level_gives_libjpeg_s_bytes)
{
    static const uint32_t sides[][2] = {{1, 1},   {9, 1},    {1, 17},  {16, 16},  {17, 24},
                                        {31, 47}, {130, 65}, {255, 9}, {2048, 3}, {2055, 18}};
    struct jpeg_encoder *e;
    ck_assert_int_eq(jpeg_encoder_new(&e, NULL), IMREC_OK);
    for (size_t s = 0; s < sizeof(sides) / sizeof(sides[0]); s++)
        for (uint32_t content = 0; content < CONTENTS; content++)
            for (uint32_t kind = 0; kind < 6; kind++) {
                const struct jpeg_encoding how = {
                    .quality = (int)(kind < 2 ? 100 : 1 + draw(s, 100 * content + kind) % 100),
                    .tile = kind % 2 != 0,
                    .full_chroma = kind >= 3};
                compare(e, sides[s][0], sides[s][1], kind % 3 == 0 ? 1 : 3, &how, content);
            }
    jpeg_encoder_free(e);
}

TEST(memory_that_runs_out_is_told)
{
    struct imrec_image image = {malloc((size_t)200 * 120 * 3), (size_t)200 * 3, 200, 120, 3};
    const struct jpeg_encoding how = {.quality = 90, .tile = true};
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    paint(&image, NOISE);
    for (long n = 0; st != IMREC_OK; n++) {
        struct buf out = BUF_INIT((size_t)1 << 28);
        struct jpeg_encoder *e = NULL;
        struct imrec_error err = {0};
        const long before = imrec_alloc_live();
        imrec_alloc_fail_after(n);
        st = jpeg_encoder_new(&e, &err);
        if (st == IMREC_OK)
            st = jpeg_encode(e, &image, &how, NULL, &out, &err);
        imrec_alloc_fail_after(-1);
        ck_assert(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY);
        ck_assert(st == IMREC_OK || strstr(err.message, "no memory") != NULL);
        ck_assert(st != IMREC_OK || n > 4);
        jpeg_encoder_free(e);
        buf_free(&out);
        ck_assert_int_eq(imrec_alloc_live(), before);
    }
    free(image.pixels);
}

TEST(who_is_asked_to_stop_stops)
{
    uint8_t pixels[64 * 64] = {0};
    const struct imrec_image image = {pixels, 64, 64, 64, 1};
    const struct jpeg_encoding how = {.quality = 90};
    struct buf out = BUF_INIT(1 << 20);
    struct stop stop = {0};
    struct jpeg_encoder *e;
    ck_assert_int_eq(jpeg_encoder_new(&e, NULL), IMREC_OK);
    ck_assert_int_eq(jpeg_encode(e, &image, &how, &stop, &out, NULL), IMREC_OK);
    stop_ask(&stop);
    ck_assert_int_eq(jpeg_encode(e, &image, &how, &stop, &out, NULL), IMREC_ERR_CANCELLED);
    jpeg_encoder_free(e);
    buf_free(&out);
}

/* ---- kernels -------------------------------------------------------------------------------- */

TEST(quantizing_is_division_rounded_half_away_from_zero)
{
    for (uint32_t step = 1; step < 256; step++) {
        struct quantizer q;
        uint8_t steps[64];
        memset(steps, (int)step, sizeof(steps));
        quantizer_make(&q, steps);
        for (int32_t v = 0; v <= 8192; v++) {
            const int32_t want = (v + 4 * (int32_t)step) / (8 * (int32_t)step);
            ck_assert_int_eq(quantized(&q, 63, v), want);
            ck_assert_int_eq(quantized(&q, 0, -v), -want);
        }
    }
}

TEST(every_colour_is_the_same_at_every_level)
{
    enum { N = 256 };
    static uint8_t rgb[3 * N], want[3][N], got[3][N + FORWARD_SLACK];
    for (uint32_t i = 0; i < 256 * 256; i++) {
        const uint32_t n = i % 7 == 0 ? 1 + i % N : N;
        for (uint32_t k = 0; k < N; k++) {
            rgb[3 * k] = (uint8_t)k;
            rgb[3 * k + 1] = (uint8_t)i;
            rgb[3 * k + 2] = (uint8_t)(i >> 8);
        }
        forward_kernels[CPU_SCALAR].colour(rgb, N, want[0], want[1], want[2]);
        EVERY_VARIANT(level)
        {
            forward_kernels[level].colour(rgb, n, got[0], got[1], got[2]);
            for (int c = 0; c < 3; c++)
                ck_assert_mem_eq(got[c], want[c], n);
        }
    }
}

TEST(means_are_the_same_at_every_level)
{
    enum { N = 200 };
    uint8_t above[2 * N + FORWARD_SLACK], below[2 * N + FORWARD_SLACK];
    uint8_t want[N], got[N + FORWARD_SLACK];
    for (uint32_t i = 0; i < 4000; i++) {
        for (uint32_t k = 0; k < sizeof(above); k++) {
            above[k] = (uint8_t)draw(i, k);
            below[k] = (uint8_t)draw(i, 1000 + k);
        }
        const uint32_t n = 1 + i % N;
        forward_kernels[CPU_SCALAR].halve(above, below, n, want);
        EVERY_VARIANT(level)
        {
            forward_kernels[level].halve(above, below, n, got);
            ck_assert_mem_eq(got, want, n);
        }
    }
}

/* Coefficients of any number, at any place, of any size. */
static void random_block(uint64_t seed, struct scan_block *b, int16_t coef[64])
{
    const uint64_t places = draw(seed, 1) & (seed % 3 == 0   ? draw(seed, 2) & draw(seed, 3)
                                             : seed % 3 == 1 ? ~(uint64_t)0
                                                             : draw(seed, 2));
    *b = (struct scan_block){.coef = coef,
                             .difference = (int16_t)((int32_t)(draw(seed, 4) % 4095) - 2047),
                             .dc = seed % 2 ? 2 : 0,
                             .ac = seed % 2 ? 3 : 1};
    for (uint32_t k = 0; k < 64; k++) {
        const int32_t v = (int32_t)(draw(seed, 10 + k) >> 40 & 1023) >> draw(seed, 80 + k) % 10;
        coef[k] = (int16_t)(places >> k & 1 ? (draw(seed, 150 + k) & 1 ? v : -v) : 0);
        b->occupied |= (uint64_t)(coef[k] != 0) << k;
    }
}

TEST(words_are_the_same_at_every_level)
{
    enum { N = 40 };
    static int16_t coef[N][64];
    static uint32_t want[N * BLOCK_WORDS + FORWARD_WORDS], got[N * BLOCK_WORDS + FORWARD_WORDS];
    struct scan_block blocks[N];
    for (uint64_t i = 0; i < 1000; i++) {
        const uint32_t n = 1 + (uint32_t)(i % N);
        for (uint32_t k = 0; k < n; k++)
            random_block(i * N + k, &blocks[k], coef[k]);
        const size_t words = (size_t)(forward_kernels[CPU_SCALAR].words(blocks, n, want) - want);
        EVERY_VARIANT(level)
        {
            ck_assert_uint_eq((size_t)(forward_kernels[level].words(blocks, n, got) - got), words);
            ck_assert_mem_eq(got, want, words * sizeof(want[0]));
        }
    }
}
