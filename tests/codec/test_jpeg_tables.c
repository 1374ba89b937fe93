/* Huffman tables that images share: every image can be coded with them, no pixel differs, and their
 * text holds all of them. */
#include "base/alloc.h"
#include "codec/jpeg_encode.h"
#include "tests/support/images.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { W = 137, H = 91, DHT = 0xC4 };

static struct codec *codec;
static uint8_t pixels[W * H * 3];

enum content { FLAT, NOISE, EXTREMES };

static struct imrec_image paint(enum content content, uint32_t channels)
{
    uint64_t state = 5;
    for (uint32_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = content == FLAT    ? (uint8_t)(i / W / 3)
                    : content == NOISE ? (uint8_t)pick(&state, 256)
                                       : (uint8_t)(255 * pick(&state, 2));
    return (struct imrec_image){pixels, (size_t)W * channels, W, H, channels};
}

static struct bytes encode(enum content content, uint32_t channels, int quality)
{
    struct bytes jpeg;
    const struct imrec_image image = paint(content, channels);
    const struct codec_jpeg_how how = {.quality = quality, .tile = true};
    ck_assert_int_eq(codec_encode_jpeg(codec, &image, how, &jpeg, NULL), IMREC_OK);
    uint8_t *copy = malloc(jpeg.n);
    memcpy(copy, jpeg.p, jpeg.n);
    return (struct bytes){copy, jpeg.n};
}

/* Of the images there are. */
static struct jpeg_tables tables_of(const struct bytes *jpegs, size_t n)
{
    struct jpeg_counts counts = {{0}};
    struct jpeg_tables tables;
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(codec_count_symbols(codec, jpegs[i], &counts, NULL), IMREC_OK);
    jpeg_tables_make(&tables, &counts);
    return tables;
}

/* How many of the tables are in the JPEG, as they are. */
static uint32_t shares(struct bytes jpeg, const struct jpeg_tables *t)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < WORD_TABLES; k++) {
        const struct symbol_spec *s = &t->spec[k];
        uint8_t segment[5 + LONGEST_CODE + SYMBOLS] = {0xFF, DHT, (uint8_t)((19 + s->n) >> 8),
                                                       (uint8_t)(19 + s->n),
                                                       (uint8_t)(k % 2 * 16 + k / 2)};
        memcpy(segment + 5, s->counts + 1, LONGEST_CODE);
        memcpy(segment + 5 + LONGEST_CODE, s->symbols, s->n);
        found += bytes_hold(jpeg, (const char *)segment, 5 + LONGEST_CODE + s->n);
    }
    return found;
}

static void expect_same_pixels(struct bytes a, struct bytes b)
{
    const struct codec_limits limits = {.max_pixels = -1};
    const struct imrec_rect all = {0, 0, W, H};
    struct imrec_image_info info;
    struct image x = {0}, y = {0};
    uint32_t warnings;
    ck_assert_int_eq(codec_begin(codec, a, &limits, &info, NULL), IMREC_OK);
    ck_assert_int_eq(codec_decode_image(codec, all, 3, &x, &warnings, NULL), IMREC_OK);
    ck_assert_int_eq(codec_begin(codec, b, &limits, &info, NULL), IMREC_OK);
    ck_assert_int_eq(codec_decode_image(codec, all, 3, &y, &warnings, NULL), IMREC_OK);
    ck_assert_uint_eq(warnings, 0);
    for (uint32_t row = 0; row < H; row++)
        ck_assert_mem_eq(x.view.pixels + row * x.view.stride, y.view.pixels + row * y.view.stride,
                         (size_t)W * 3);
    image_free(&x);
    image_free(&y);
}

static void setup(void)
{
    ck_assert_int_eq(codec_new(&codec, NULL), IMREC_OK);
}

static void teardown(void)
{
    codec_free(codec);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(what_shares_tables_has_the_same_pixels, 0, 18) /* _i: content, channels, quality */
{
    static const int qualities[] = {1, 75, 100};
    const enum content content = (enum content)(_i % 3);
    const uint32_t channels = _i / 3 % 2 == 0 ? 3 : 1;
    const int quality = qualities[_i / 6];
    const struct bytes flat = encode(FLAT, 3, 90);
    const struct jpeg_tables tables = tables_of(&flat, 1);
    const struct bytes own = encode(content, channels, quality);
    codec_share_tables(codec, &tables);
    const struct bytes shared = encode(content, channels, quality);
    codec_share_tables(codec, NULL);
    const struct bytes again = encode(content, channels, quality);
    ck_assert_uint_eq(shares(shared, &tables), channels == 3 ? 4 : 2);
    ck_assert_uint_eq(shares(again, &tables), 0);
    ck_assert(again.n == own.n && memcmp(again.p, own.p, own.n) == 0);
    expect_same_pixels(own, shared);
    bytes_free(flat);
    bytes_free(own);
    bytes_free(shared);
    bytes_free(again);
}

TEST(tables_of_one_image_are_near_to_its_own)
{
    const struct bytes own = encode(NOISE, 3, 90);
    const struct jpeg_tables tables = tables_of(&own, 1);
    codec_share_tables(codec, &tables);
    const struct bytes shared = encode(NOISE, 3, 90);
    ck_assert_uint_eq(shares(shared, &tables), WORD_TABLES);
    ck_assert_uint_lt(shared.n, own.n + own.n / 50 + 300);
    bytes_free(own);
    bytes_free(shared);
}

/* Of DC 0 and 1, as a flat image has them, and of no AC but the end of a block. */
TEST(an_image_with_another_symbol_gets_its_own)
{
    const struct bytes noise = encode(NOISE, 3, 90);
    struct jpeg_tables tables;
    ck_assert(jpeg_tables_read(&tables, "00020000000000000000000000000000"
                                        "0001"
                                        "01000000000000000000000000000000"
                                        "00"
                                        "00020000000000000000000000000000"
                                        "0001"
                                        "01000000000000000000000000000000"
                                        "00"));
    codec_share_tables(codec, &tables);
    const struct bytes again = encode(NOISE, 3, 90);
    ck_assert(again.n == noise.n && memcmp(again.p, noise.p, noise.n) == 0);
    bytes_free(noise);
    bytes_free(again);
}

/* What is claimed of an image is the same with and without. */
TEST(an_image_that_they_make_too_large_gets_its_own)
{
    enum { SIDE = 700 };
    static uint8_t large[SIDE * SIDE];
    uint64_t state = 7;
    const struct imrec_image image = {large, SIDE, SIDE, SIDE, 1};
    const struct codec_jpeg_how how = {.quality = 95};
    struct bytes coarse[100], jpeg;
    coarse[0] = encode(NOISE, 1, 10);
    for (size_t i = 1; i < 100; i++) /* whose symbols are so frequent that others have long codes */
        coarse[i] = coarse[0];
    const struct jpeg_tables tables = tables_of(coarse, 100);
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)pick(&state, 256);
    codec_share_tables(codec, &tables);
    ck_assert_int_eq(codec_encode_jpeg(codec, &image, how, &jpeg, NULL), IMREC_OK);
    ck_assert_uint_eq(shares(jpeg, &tables), 0);
    ck_assert_uint_lt(jpeg.n, codec_encode_jpeg_most(SIDE, SIDE, how));
    bytes_free(coarse[0]);
}

TEST(every_symbol_of_8_bit_samples_has_a_code)
{
    const struct jpeg_tables tables = tables_of(NULL, 0);
    static const uint32_t symbols[] = {12, 162, 12, 162};
    for (uint32_t t = 0; t < WORD_TABLES; t++)
        ck_assert_uint_eq(tables.spec[t].n, symbols[t]);
}

TEST(what_is_no_such_jpeg_counts_for_nothing)
{
    static const uint8_t text[] = "no image";
    const struct bytes good = encode(NOISE, 3, 90);
    const struct bytes jpegs[] = {{text, sizeof(text)}, {good.p, good.n / 2}, {NULL, 0}};
    const struct jpeg_tables none = tables_of(NULL, 0), all = tables_of(jpegs, 3);
    ck_assert_mem_eq(&none, &all, sizeof(none));
    bytes_free(good);
}

TEST(counting_holds_no_more_than_is_claimed)
{
    enum { SIDE = 600 };
    static uint8_t large[SIDE * SIDE * 3];
    uint64_t state = 7;
    const struct imrec_image image = {large, SIDE * 3, SIDE, SIDE, 3};
    const struct codec_jpeg_how how = {.quality = 100, .full_chroma = true};
    struct bytes jpeg;
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)pick(&state, 256);
    ck_assert_int_eq(codec_encode_jpeg(codec, &image, how, &jpeg, NULL), IMREC_OK);
    const size_t before = codec_memory(codec);
    (void)tables_of(&jpeg, 1);
    ck_assert_uint_le(codec_memory(codec) - before, codec_count_claim(SIDE, SIDE));
    ck_assert_uint_gt(codec_memory(codec) - before, codec_count_claim(SIDE, SIDE) / 4);
}

TEST(the_text_has_all_of_them)
{
    char text[JPEG_TABLES_TEXT], wrong[JPEG_TABLES_TEXT + 2];
    const struct bytes noise = encode(NOISE, 3, 90);
    const struct jpeg_tables tables = tables_of(&noise, 1);
    struct jpeg_tables read;
    jpeg_tables_text(&tables, text);
    ck_assert(jpeg_tables_read(&read, text));
    ck_assert_mem_eq(&read, &tables, sizeof(read));
    for (size_t n = 0; n < strlen(text); n++) {
        memcpy(wrong, text, n);
        wrong[n] = '\0';
        ck_assert(!jpeg_tables_read(&read, wrong));
        strcpy(wrong, text);
        wrong[n] = n % 2 == 0 ? 'g' : 'A';
        ck_assert(!jpeg_tables_read(&read, wrong));
    }
    strcpy(wrong, text);
    strcat(wrong, "0");
    ck_assert(!jpeg_tables_read(&read, wrong));
    bytes_free(noise);
}

LOOP_TEST(a_text_of_no_tables_is_refused, 0, 6)
{
    static const char *const first[] = {
        "02000000000000000000000000000000"
        "0001", /* a code of ones alone */
        "00050000000000000000000000000000"
        "0001020304",                       /* more codes than there are */
        "00000000000000000000000000000000", /* none at all */
        "00020000000000000000000000000000"
        "0000", /* a symbol twice */
        "00020000000000000000000000000000"
        "000c", /* no DC symbol */
        "000000000000000000000000000000ff"
        "00", /* more than follow */
    };
    char text[1024];
    struct jpeg_tables read;
    snprintf(text, sizeof(text), "%s%s%s%s", first[_i], "0100000000000000000000000000000000",
             "000200000000000000000000000000000001", "0100000000000000000000000000000000");
    ck_assert(!jpeg_tables_read(&read, text));
}
