/* tests/codec/test_jpeg_optimize.c - exchanged tables give the bytes of libjpeg's own optimization.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "codec/codec.h"
#include "codec/jpeg/recode/jpeg_optimize.h"
#include "codec/jpeg/recode/jpeg_symbols.h"
#include "tests/support/by_libjpeg.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static uint64_t draw(uint64_t i, uint32_t k)
{
    return rng_block((struct rng_key){5, 0}, i, k, 0, RNG_AUGMENT).v[0];
}

/* Pixels of some kind: noise, flat, gradients, noise in some places. */
static void paint(struct imrec_image *image, uint32_t kind)
{
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width * image->channels; x++) {
            const uint64_t noise = draw(y * 100003u + x, kind);
            const uint8_t smooth = (uint8_t)(x / 3 + 2 * y);
            image->pixels[y * image->stride + x] = kind % 4 == 0                ? (uint8_t)noise
                                                   : kind % 4 == 1              ? 77
                                                   : kind % 4 == 2              ? smooth
                                                   : (x / 40 + y / 24) % 3 == 0 ? (uint8_t)noise
                                                                                : smooth;
        }
}

static size_t made_by_libjpeg(const struct imrec_image *image, struct codec_jpeg_how how,
                              bool optimize, unsigned char **out)
{
    return by_libjpeg(image, (struct by_libjpeg){how.quality, how.tile, false, optimize}, out);
}

/* Whether libjpeg's plain output is taken, not left to libjpeg's own optimization. */
static void check_taken(const struct imrec_image *image, struct codec_jpeg_how how)
{
    struct jpeg_optimizer *o;
    struct buf out = BUF_INIT((size_t)1 << 28);
    unsigned char *plain;
    bool done;
    const size_t n = made_by_libjpeg(image, how, false, &plain);
    ck_assert_int_eq(jpeg_optimizer_new(&o, NULL), IMREC_OK);
    ck_assert_int_eq(jpeg_optimize(o, (struct bytes){plain, n}, NULL, &out, &done, NULL), IMREC_OK);
    ck_assert_msg(done, "%u x %u x %u, quality %d: declined", image->width, image->height,
                  image->channels, how.quality);
    free(plain);
    buf_free(&out);
    jpeg_optimizer_free(o);
}

static void compare(struct codec *c, uint32_t width, uint32_t height, uint32_t channels,
                    struct codec_jpeg_how how, uint32_t kind)
{
    struct imrec_image image = {NULL, (size_t)width * channels, width, height, channels};
    image.pixels = imrec_realloc(NULL, image.stride, height);
    ck_assert_ptr_nonnull(image.pixels);
    paint(&image, kind);
    unsigned char *theirs;
    const size_t n = made_by_libjpeg(&image, how, true, &theirs);
    struct bytes ours;
    ck_assert_int_eq(codec_encode_jpeg(c, &image, how, &ours, NULL), IMREC_OK);
    ck_assert_msg(ours.n == n && memcmp(ours.p, theirs, n) == 0,
                  "%u x %u x %u, quality %d, kind %u: %zu bytes, libjpeg %zu", width, height,
                  channels, how.quality, kind, ours.n, n);
    check_taken(&image, how);
    free(theirs);
    imrec_free(image.pixels);
}

CASE(.timeout = 60)

LOOP_TEST(sizes_qualities_and_contents_give_libjpeg_s_bytes, 0, 2) /* _i: channels */
{
    static const uint32_t sides[][2] = {{1, 1},     {1, 90},    {7, 3},      {8, 8},
                                        {15, 16},   {16, 17},   {33, 9},     {100, 75},
                                        {341, 256}, {640, 411}, {1999, 1333}};
    static const int qualities[] = {1, 10, 50, 75, 90, 95, 100};
    const uint32_t channels = _i == 0 ? 1 : 3;
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (size_t s = 0; s < sizeof(sides) / sizeof(sides[0]); s++)
        for (size_t q = 0; q < sizeof(qualities) / sizeof(qualities[0]); q++)
            for (uint32_t kind = 0; kind < 4; kind++)
                compare(c, sides[s][0], sides[s][1], channels,
                        (struct codec_jpeg_how){qualities[q], kind % 2 == s % 2, false}, kind);
    codec_free(c);
}

TEST(small_images_of_every_kind_give_libjpeg_s_bytes)
{
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < 1500; i++)
        compare(c, 1 + (uint32_t)(draw(i, 1) % 60), 1 + (uint32_t)(draw(i, 2) % 60), i % 2 ? 3 : 1,
                (struct codec_jpeg_how){1 + (int)(draw(i, 3) % 100), i % 3 == 0, false}, i);
    codec_free(c);
}

/* More symbols than are kept; and a small image behind them. */
LOOP_TEST(large_images_of_noise_give_libjpeg_s_bytes, 0, 4) /* _i: channels, restart markers */
{
    const bool tile = _i >= 2;
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    compare(c, 1403, 1301, _i % 2 == 0 ? 1 : 3, (struct codec_jpeg_how){100, tile, false}, 0);
    compare(c, 2051, 1203, _i % 2 == 0 ? 1 : 3, (struct codec_jpeg_how){100, tile, false}, 3);
    const size_t held = codec_memory(c);
    ck_assert_msg(held < (16 << 20), "%zu bytes are held", held);
    compare(c, 40, 30, _i % 2 == 0 ? 1 : 3, (struct codec_jpeg_how){90, tile, false}, 0);
    codec_free(c);
}

/* Counts that make codes of more than 16 bits, which must be shortened. */
TEST(images_with_very_rare_symbols_give_libjpeg_s_bytes)
{
    struct imrec_image image = {NULL, 2048, 2048, 2048, 1};
    struct codec *c;
    struct bytes ours;
    unsigned char *theirs;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    image.pixels = imrec_realloc(NULL, image.stride, image.height);
    for (uint32_t y = 0; y < 2048; y++) /* noise that halves from column to column of blocks */
        for (uint32_t x = 0; x < 2048; x++) {
            const uint32_t amount =
                127u >> (draw(x / 8 + 999 * (y / 8), 1) & 255
                             ? __builtin_clzll(draw(x / 8 + 999 * (y / 8), 2)) / 2
                             : 0);
            image.pixels[y * 2048 + x] =
                (uint8_t)(128 + (int)(draw(x + 2048 * y, 3) % (2 * amount + 1)) - (int)amount);
        }
    for (int quality = 20; quality <= 100; quality += 16) {
        const struct codec_jpeg_how how = {.quality = quality, .tile = quality % 8 == 0};
        const size_t n = made_by_libjpeg(&image, how, true, &theirs);
        ck_assert_int_eq(codec_encode_jpeg(c, &image, how, &ours, NULL), IMREC_OK);
        ck_assert(ours.n == n && memcmp(ours.p, theirs, n) == 0);
        free(theirs);
    }
    imrec_free(image.pixels);
    codec_free(c);
}

LOOP_TEST(ordinary_images_are_not_declined_and_damaged_ones_are, 0, 2) /* _i: restart markers */
{
    uint8_t pixels[48 * 32 * 3];
    struct imrec_image image = {pixels, 48 * 3, 48, 32, 3};
    struct jpeg_optimizer *o;
    struct buf out = BUF_INIT(1 << 20);
    unsigned char *plain;
    bool done;
    paint(&image, 3);
    const size_t n =
        made_by_libjpeg(&image, (struct codec_jpeg_how){90, _i != 0, false}, false, &plain);
    ck_assert_int_eq(jpeg_optimizer_new(&o, NULL), IMREC_OK);
    ck_assert_int_eq(jpeg_optimize(o, (struct bytes){plain, n}, NULL, &out, &done, NULL), IMREC_OK);
    ck_assert(done && out.n < n);
    for (size_t cut = 2; cut < n; cut++) { /* never beyond what is there */
        uint8_t *copy = malloc(cut);
        memcpy(copy, plain, cut);
        ck_assert_int_eq(jpeg_optimize(o, (struct bytes){copy, cut}, NULL, &out, &done, NULL),
                         IMREC_OK);
        ck_assert(!done);
        free(copy);
    }
    for (size_t i = 0; i < 20000; i++) { /* nonsense is declined or harmless */
        const size_t at = 2 + draw(i, 7) % (n - 2);
        const uint8_t was = plain[at];
        plain[at] = (uint8_t)draw(i, 8);
        ck_assert_int_eq(jpeg_optimize(o, (struct bytes){plain, n}, NULL, &out, &done, NULL),
                         IMREC_OK);
        plain[at] = was;
    }
    free(plain);
    buf_free(&out);
    jpeg_optimizer_free(o);
}

/* Fibonacci's numbers make the deepest tree; beyond 32 libjpeg gives up, and so do we. */
TEST(counts_that_make_too_deep_a_tree_are_declined)
{
    for (uint32_t n = 1; n < 60; n++) {
        uint64_t count[SYMBOLS] = {0}, a = 1, b = 1;
        struct symbol_spec spec;
        uint32_t codes = 0, room = 0;
        for (uint32_t i = 0; i < n; i++) {
            count[3 * i + 1] = b;
            const uint64_t next = a + b;
            a = b;
            b = next;
        }
        const bool made = symbol_spec_optimal(&spec, count);
        ck_assert_int_eq(made, n <= 32);
        if (!made)
            continue;
        for (uint32_t k = 1; k <= LONGEST_CODE; k++) {
            codes += spec.counts[k];
            room += (uint32_t)spec.counts[k] << (LONGEST_CODE - k);
        }
        ck_assert_uint_eq(codes, n);
        ck_assert_uint_eq(spec.n, n);
        ck_assert_uint_lt(room, 1u << LONGEST_CODE); /* the code of ones is free */
    }
}

TEST(no_memory_is_an_error_and_leaves_nothing)
{
    uint8_t pixels[200 * 100 * 3];
    struct imrec_image image = {pixels, 600, 200, 100, 3};
    paint(&image, 0);
    STARVING(memory)
    {
        struct codec *c = NULL;
        struct bytes out;
        memory.st = codec_new(&c, NULL);
        if (memory.st == IMREC_OK)
            memory.st =
                codec_encode_jpeg(c, &image, (struct codec_jpeg_how){.quality = 95}, &out, NULL);
        codec_free(c);
    }
}
