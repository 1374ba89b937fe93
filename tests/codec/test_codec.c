/* Images of every format through one door: known by their bytes, exact where they are lossless,
 * bounded, and never a crash. The files are those of the fuzz corpus. */
#include "base/alloc.h"
#include "codec/codec.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct codec *codec;
static struct bytes file;
static struct image out;
static struct imrec_image_info info;
static struct imrec_error err;

static void load(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/image/%s", IMREC_SOURCE_DIR, name);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL && fseek(f, 0, SEEK_END) == 0, "%s", path);
    file.n = (size_t)ftell(f);
    rewind(f);
    uint8_t *p = malloc(file.n);
    ck_assert_uint_eq(fread(p, 1, file.n, f), file.n);
    fclose(f);
    file.p = p;
}

static void begin(void)
{
    ck_assert_int_eq(codec_new(&codec, NULL), IMREC_OK);
}

static void end(void)
{
    codec_free(codec);
    image_free(&out);
    free((void *)(uintptr_t)file.p);
    file = (struct bytes){0};
}

static enum imrec_status
decode(const struct codec_limits *limits, uint32_t channels, uint32_t *warnings)
{
    const enum imrec_status st = codec_begin(codec, file, limits, &info, &err);
    const struct imrec_rect all = {0, 0, info.width, info.height};
    return st == IMREC_OK ? codec_decode_image(codec, all, channels, &out, warnings, &err) : st;
}

static const struct {
    const char *file, *format;
    int tolerance; /* of a value; -1: lossy, look at the size only */
} images[] = {
    {"rgb.png", "png", 0},        {"rgba.png", "png", 0},
    {"lossless.webp", "webp", 0}, {"a.tif", "tiff", 0},
    {"lzw.tif", "tiff", 0},       {"rgb.bmp", "bmp", 0},
    {"palette.png", "png", -1},   {"grey.png", "png", -1},
    {"a.gif", "gif", -1},         {"a.webp", "webp", -1},
    {"palette.bmp", "bmp", -1},   {"bit.bmp", "bmp", -1},
    {"baseline.jpg", "jpeg", -1}, {"444.jpg", "jpeg", 40},
    {"cmyk.jpg", "jpeg", -1},     {"baseline.jpg.gz", "jpeg", -1},
    {"grey.jpg", "jpeg", -1},     {"progressive.jpg", "jpeg", -1},
};
enum { IMAGES = sizeof(images) / sizeof(images[0]) };

CASE(.timeout = 60, .setup = begin, .teardown = end)

LOOP_TEST(an_image_is_known_by_its_bytes_and_decodes, 0, IMAGES) /* _i: an image */
{
    const struct codec_limits limits = {.max_pixels = 24 * 18};
    load(images[_i].file);
    const enum imrec_status st = decode(&limits, 3, NULL);
    if (st == IMREC_ERR_UNSUPPORTED) { /* not built in: refused by name */
        const char *named = strstr(images[_i].file, ".gz") ? "gzip" : images[_i].format;
        ck_assert_msg(strstr(err.message, named) != NULL, "%s", err.message);
        return;
    }
    ck_assert_msg(st == IMREC_OK, "%s: %s", images[_i].file, err.message);
    ck_assert_str_eq(info.format, images[_i].format);
    ck_assert_uint_eq(out.view.width, 24);
    ck_assert_uint_eq(out.view.height, 18);
    ck_assert_int_eq(info.gzip, strstr(images[_i].file, ".gz") != NULL);
    ck_assert_int_eq(info.cmyk, strcmp(images[_i].file, "cmyk.jpg") == 0);
    for (int y = 0; y < 18 && images[_i].tolerance >= 0; y++)
        for (int x = 0; x < 24; x++) {
            const uint8_t *px = out.view.pixels + (size_t)y * out.view.stride + 3 * (size_t)x;
            const int want[3] = {x * 9 % 256, y * 13 % 256, x * y % 256};
            for (int c = 0; c < 3; c++)
                ck_assert_int_le(abs(px[c] - want[c]), images[_i].tolerance);
        }
}

LOOP_TEST(one_pixel_more_than_allowed_is_refused_before_decoding, 0, IMAGES) /* _i: an image */
{
    const struct codec_limits limits = {.max_pixels = 24 * 18 - 1};
    load(images[_i].file);
    const enum imrec_status st = codec_begin(codec, file, &limits, &info, &err);
    ck_assert_msg(st == IMREC_ERR_LIMIT || st == IMREC_ERR_UNSUPPORTED, "%s", images[_i].file);
    ck_assert_str_ne(err.message, "");
}

LOOP_TEST(every_cut_is_refused_or_decoded_whole_never_a_crash, 0, IMAGES) /* _i: an image */
{
    const struct codec_limits limits = {.max_pixels = 1 << 16};
    load(images[_i].file);
    const size_t whole = file.n;
    for (file.n = 0; file.n < whole; file.n += 1 + whole / 97) {
        err.message[0] = '\0';
        if (decode(&limits, 3, NULL) != IMREC_OK)
            ck_assert_str_ne(err.message, "");
    }
}

TEST(a_truncated_jpeg_is_refused_unless_accepted)
{
    struct codec_limits limits = {.max_pixels = 1 << 16};
    uint32_t warnings = 0;
    load("truncated.jpg");
    ck_assert_int_eq(decode(&limits, 3, NULL), IMREC_ERR_CORRUPT);
    limits.accept_truncated = true;
    ck_assert_int_eq(decode(&limits, 3, &warnings), IMREC_OK);
    ck_assert_uint_gt(warnings, 0);
}

TEST(orientation_is_read_and_left_to_the_caller)
{
    const struct codec_limits limits = {.max_pixels = 1 << 16};
    load("exif6.jpg");
    ck_assert_int_eq(decode(&limits, 3, NULL), IMREC_OK);
    ck_assert_uint_eq(info.orientation, 6);
    ck_assert_uint_eq(out.view.width, 24);
}

TEST(what_is_no_image_is_refused_with_a_sentence)
{
    const struct codec_limits limits = {.max_pixels = 1 << 16};
    uint8_t *p = malloc(64);
    memset(p, 'x', 64);
    file = (struct bytes){p, 64};
    ck_assert_int_ne(codec_begin(codec, file, &limits, &info, &err), IMREC_OK);
    ck_assert_str_ne(err.message, "");
}

LOOP_TEST(a_failing_allocation_is_an_error_and_leaks_nothing, 0, IMAGES) /* _i: an image */
{
    const struct codec_limits limits = {.max_pixels = 1 << 16};
    load(images[_i].file);
    codec_free(codec);
    codec = NULL;
    image_free(&out);
    const long live = imrec_alloc_live();
    for (long n = 0; n < 200; n++) {
        imrec_alloc_fail_after(n);
        enum imrec_status st = codec_new(&codec, NULL);
        if (st == IMREC_OK)
            st = decode(&limits, 3, NULL);
        imrec_alloc_fail_after(-1);
        codec_free(codec);
        codec = NULL;
        image_free(&out);
        ck_assert_int_eq(imrec_alloc_live(), live);
        if (st == IMREC_OK || st == IMREC_ERR_UNSUPPORTED)
            break;
        /* libraries may name what zlib was refused after the data */
        ck_assert(st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CORRUPT);
        ck_assert_int_lt(n, 199);
    }
}

TEST(an_encoded_jpeg_decodes_near_and_carries_nothing_but_jfif)
{
    const struct codec_limits limits = {.max_pixels = 1 << 16};
    struct bytes made;
    struct image first = {0};
    load("rgb.png");
    if (decode(&limits, 3, NULL) == IMREC_ERR_UNSUPPORTED)
        return;
    ck_assert_int_eq(
        codec_encode_jpeg(codec, &out.view, (struct codec_jpeg_how){.quality = 95}, &made, &err),
        IMREC_OK);
    ck_assert_uint_eq(made.p[3], 0xe0); /* SOI, APP0 */
    for (size_t i = 4; i + 1 < made.n && !(made.p[i] == 0xff && made.p[i + 1] == 0xda); i++)
        ck_assert_msg(made.p[i] != 0xff || made.p[i + 1] < 0xe1 || made.p[i + 1] > 0xef,
                      "an APPn marker stands at byte %zu", i);
    uint8_t *copy = malloc(made.n);
    memcpy(copy, made.p, made.n);
    free((void *)(uintptr_t)file.p);
    file = (struct bytes){copy, made.n};
    first = out;
    out = (struct image){0};
    ck_assert_int_eq(decode(&limits, 3, NULL), IMREC_OK);
    ck_assert_str_eq(info.sampling, "4:2:0");
    ck_assert_uint_eq(out.view.width, first.view.width);
    image_free(&first);
}

/* A view of `channels`, with bytes between its rows that are none of its. */
static struct imrec_image some_pixels(uint8_t *room, uint32_t channels)
{
    for (int i = 0; i < 400; i++)
        room[i] = (uint8_t)(i * 73 + 5);
    return (struct imrec_image){room, 40, 7, 5, channels};
}

static enum imrec_status decode_pixels(const struct imrec_image *from, uint32_t channels)
{
    const struct codec_limits limits = {.max_pixels = 35, .alpha = CODEC_ALPHA_WHITE};
    const struct imrec_rect part = {1, 2, 5, 3};
    ck_assert_int_eq(codec_begin_pixels(codec, from, &limits, &info, &err), IMREC_OK);
    return codec_decode_image(codec, part, channels, &out, NULL, &err);
}

LOOP_TEST(pixels_come_out_as_they_went_in, 0, 3)
{
    static const uint32_t channels[] = {1, 3, 4};
    static const char *const kinds[] = {"grey", "rgb", "rgba"};
    uint8_t room[400];
    const struct imrec_image from = some_pixels(room, channels[_i]);
    ck_assert_int_eq(decode_pixels(&from, from.channels), IMREC_OK);
    ck_assert_str_eq(info.format, "pixels");
    ck_assert_str_eq(info.kind, kinds[_i]);
    ck_assert(info.width == 7 && info.height == 5 && info.channels == from.channels);
    ck_assert_uint_le(codec_claim(codec, 1), 7 * 4); /* a row on its way, no more */
    for (uint32_t y = 0; y < 3; y++)
        ck_assert_mem_eq(out.view.pixels + y * out.view.stride, room + (2 + y) * 40 + from.channels,
                         (size_t)5 * from.channels);
}

TEST(pixels_change_their_channels_as_decoded_images_do)
{
    uint8_t room[400];
    struct imrec_image from = some_pixels(room, 1);
    ck_assert_int_eq(decode_pixels(&from, 3), IMREC_OK);
    for (uint32_t x = 0; x < 5; x++)
        for (uint32_t c = 0; c < 3; c++)
            ck_assert_uint_eq(out.view.pixels[3 * x + c], room[80 + 1 + x]);
    from.channels = 4;
    ck_assert_int_eq(decode_pixels(&from, 3), IMREC_OK);
    const uint8_t *p = room + 80 + 4;
    ck_assert_uint_eq(out.view.pixels[0], (p[0] * p[3] + 255 * (255 - p[3]) + 127) / 255);
}

TEST(pixels_of_no_size_too_many_or_two_channels_are_refused)
{
    const struct codec_limits limits = {.max_pixels = 34};
    uint8_t room[400];
    struct imrec_image from = some_pixels(room, 3);
    ck_assert_int_eq(codec_begin_pixels(codec, &from, &limits, &info, &err), IMREC_ERR_LIMIT);
    from.height = 0;
    ck_assert_int_eq(codec_begin_pixels(codec, &from, &limits, &info, &err), IMREC_ERR_CORRUPT);
    for (from.channels = 0; from.channels < 9; from.channels += 2)
        if (from.channels != 4)
            ck_assert_int_eq(codec_begin_pixels(codec, &from, &limits, &info, &err),
                             IMREC_ERR_ARGUMENT);
    const struct imrec_rect all = {0, 0, 7, 5};
    ck_assert_int_eq(codec_decode_image(codec, all, 3, &out, NULL, &err), IMREC_ERR_ARGUMENT);
}
