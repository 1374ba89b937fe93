/* The public functions of imrec/image.h on images of the caller's, against the formulas of
 * docs/guide/normalization.md and docs/guide/resampling.md. */
#include "imrec/image.h"
#include "tests/support/guard.h"

#include "tests/support/suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 37, H = 11, GAP = 9, FENCE = 16, MOST = W * H * 4 };

static uint8_t memory[H * (W * 4 + GAP)];

/* Rows with a gap behind them; the gaps hold 170. */
static struct imrec_image image(uint32_t channels, size_t gap)
{
    const struct imrec_image i = {memory, W * channels + gap, W, H, channels};
    memset(memory, 170, sizeof(memory));
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t k = 0; k < W * channels; k++)
            i.pixels[y * i.stride + k] = (uint8_t)((y * W * channels + k) * 151 + 13);
    return i;
}

static uint8_t px(const struct imrec_image *i, uint32_t x, uint32_t y, uint32_t c)
{
    return i->pixels[y * i->stride + (size_t)x * i->channels + c];
}

/* ---- crop, normalize, mirror ---------------------------------------------------------------- */

static float mean_image[MOST];
static _Alignas(64) uint8_t got[MOST * 4 + 2 * FENCE + 64];

static const struct imrec_rect crops[] = {{0, 0, W, H},  {3, 2, 30, 8},     {W - 1, H - 1, 1, 1},
                                          {5, 0, 16, 1}, {0, H - 3, 33, 3}, {W - 7, 1, 7, 10}};
enum { CROPS = sizeof(crops) / sizeof(crops[0]) };

static size_t place(const struct imrec_normalize *how, struct imrec_rect r, uint32_t channels,
                    uint32_t x, uint32_t y, uint32_t c)
{
    if (how->layout == IMREC_NHWC)
        return ((size_t)y * r.width + x) * channels + c;
    return ((size_t)c * r.height + y) * r.width + x;
}

/* The slot's value by the formulas, as float; of float16 before it is rounded. */
static float formula(const struct imrec_normalize *how, uint8_t pixel, float mean, uint32_t c)
{
    if (how->dtype == IMREC_UINT8)
        return pixel;
    if (how->dtype == IMREC_INT8)
        return fminf(127, fmaxf(-128, (float)pixel - roundf(mean)));
    const volatile float gain = how->scale / how->std[c], off = (float)pixel - mean;
    const volatile float value = off * gain;
    return value;
}

static float half_value(uint16_t h) /* normal numbers and zero */
{
    const float size = h & 0x7c00 ? ldexpf(1 + (float)(h & 0x3ff) / 1024, (h >> 10 & 31) - 15)
                                  : ldexpf((float)(h & 0x3ff), -24);
    return h & 0x8000 ? -size : size;
}

static float stored(const uint8_t *out, size_t at, enum imrec_dtype dtype)
{
    float f;
    uint16_t h;
    switch (dtype) {
    case IMREC_FLOAT32:
        memcpy(&f, out + 4 * at, 4);
        return f;
    case IMREC_FLOAT16:
        memcpy(&h, out + 2 * at, 2);
        return half_value(h);
    case IMREC_INT8:
        return (int8_t)out[at];
    default:
        return out[at];
    }
}

static size_t bytes_of(enum imrec_dtype dtype)
{
    return dtype == IMREC_FLOAT32 ? 4 : dtype == IMREC_FLOAT16 ? 2 : 1;
}

static void check_values(const struct imrec_image *i, struct imrec_rect r,
                         const struct imrec_normalize *how, const uint8_t *out)
{
    for (uint32_t y = 0; y < r.height; y++)
        for (uint32_t x = 0; x < r.width; x++)
            for (uint32_t c = 0; c < i->channels; c++) {
                const uint32_t from = how->mirror ? r.width - 1 - x : x;
                const float mean = how->mean_image == NULL
                                       ? how->mean[c]
                                       : how->mean_image[(c * r.height + y) * r.width + from];
                const float want = formula(how, px(i, r.x + from, r.y + y, c), mean, c);
                const float have = stored(out, place(how, r, i->channels, x, y, c), how->dtype);
                if (how->dtype == IMREC_FLOAT16)
                    ck_assert_float_le(fabsf(have - want), fabsf(want) / 2048 + 1e-7f);
                else
                    ck_assert_msg(have == want, "(%u, %u, %u): %.9g, not %.9g", x, y, c,
                                  (double)have, (double)want);
            }
}

static struct imrec_normalize how_of(int k)
{
    struct imrec_normalize how = {.dtype = (enum imrec_dtype)(k % 4),
                                  .layout = (enum imrec_layout)(k / 4 % 2),
                                  .mirror = k / 8 % 2 != 0,
                                  .mean = {123.68f, 116.78f, 103.94f, -60.5f},
                                  .std = {58.4f, 57.1f, 57.4f, 3},
                                  .scale = 0.5f};
    if (how.dtype == IMREC_UINT8)
        memset(how.mean, 0, sizeof(how.mean));
    if (how.dtype == IMREC_UINT8 || how.dtype == IMREC_INT8) {
        memset(how.std, 0, sizeof(how.std)); /* as a caller leaves what a type does not take */
        how.scale = 0;
    }
    if (k / 16 % 2 != 0 && how.dtype != IMREC_UINT8)
        how.mean_image = mean_image;
    return how;
}

LOOP_TEST(crops_are_normalized_by_the_formulas, 0, 32) /* _i: dtype, layout, mirror, mean image */
{
    const struct imrec_normalize how = how_of(_i);
    for (size_t k = 0; k < MOST; k++)
        mean_image[k] = (float)(k % 401) * 0.61f - 13;
    for (uint32_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1)
        for (size_t k = 0; k < CROPS; k++)
            for (size_t shift = 0; shift < 4; shift += 3) { /* any alignment */
                const struct imrec_image i = image(channels, k % 2 * GAP);
                const size_t bytes =
                    (size_t)crops[k].width * crops[k].height * channels * bytes_of(how.dtype);
                uint8_t *out = got + FENCE + shift;
                memset(got, 0xa5, sizeof(got));
                ck_assert_int_eq(imrec_image_crop_normalize(&i, crops[k], &how, out, NULL),
                                 IMREC_OK);
                check_values(&i, crops[k], &how, out);
                for (size_t f = 1; f <= FENCE; f++) {
                    ck_assert_uint_eq(out[-(ptrdiff_t)f], 0xa5);
                    ck_assert_uint_eq(out[bytes + f - 1], 0xa5);
                }
            }
}

TEST(an_image_may_end_with_its_memory)
{
    const struct imrec_image i = image(3, 0);
    const struct imrec_normalize how = how_of(8); /* mirrored float32 planes */
    struct guarded g = guarded_copy(i.pixels, i.stride * H);
    const struct imrec_image end = {g.p, i.stride, W, H, 3};
    ck_assert_int_eq(imrec_image_crop_normalize(&end, crops[0], &how, got, NULL), IMREC_OK);
    check_values(&i, crops[0], &how, got);
    guarded_free(g);
}

/* ---- mirror in place ------------------------------------------------------------------------ */

LOOP_TEST(mirroring_turns_every_row_and_leaves_the_gaps, 1, W + 1) /* _i: width */
{
    for (uint32_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        static uint8_t before[sizeof(memory)];
        struct imrec_image i = image(channels, GAP), old = i;
        i.width = old.width = (uint32_t)_i;
        memcpy(before, memory, sizeof(memory));
        old.pixels = before;
        imrec_image_mirror(&i);
        for (uint32_t y = 0; y < H; y++) {
            const size_t row = y * i.stride, used = (size_t)i.width * channels;
            for (uint32_t x = 0; x < i.width; x++)
                for (uint32_t c = 0; c < channels; c++)
                    ck_assert_uint_eq(px(&i, x, y, c), px(&old, i.width - 1 - x, y, c));
            ck_assert_mem_eq(memory + row + used, before + row + used, i.stride - used);
        }
        imrec_image_mirror(&i);
        ck_assert_mem_eq(memory, before, sizeof(memory));
    }
}

/* ---- resize --------------------------------------------------------------------------------- */

static uint8_t target[200 * 200 * 4];

/* Rows of the target have gaps too, which stay. */
static struct imrec_image
resized(const struct imrec_image *from, uint32_t w, uint32_t h, int method)
{
    const struct imrec_image to = {target, w * from->channels + GAP, w, h, from->channels};
    memset(target, 0x5a, sizeof(target));
    ck_assert_int_eq(imrec_image_resize(from, &to, method, NULL), IMREC_OK);
    for (uint32_t y = 0; y < h; y++)
        for (size_t k = w * from->channels; k < to.stride; k++)
            ck_assert_uint_eq(target[y * to.stride + k], 0x5a);
    return to;
}

LOOP_TEST(resizing_gives_the_pixels_of_the_formulas, 0, 3) /* _i: channels */
{
    const uint32_t channels = (const uint32_t[]){1, 3, 4}[_i];
    const struct imrec_image from = image(channels, GAP);
    struct imrec_image to = resized(&from, 2 * W, H, 0);
    for (uint32_t k = 0; k < 2 * W * H * channels; k++) { /* nearest: every column twice */
        const uint32_t c = k % channels, x = k / channels % (2 * W), y = k / channels / (2 * W);
        ck_assert_uint_eq(px(&to, x, y, c), px(&from, x / 2, y, c));
    }
    struct imrec_image even = from;
    even.width = 36, even.height = 10;
    for (int method = 1; method <= 3; method += 2) { /* half the size: means of 2 x 2 */
        to = resized(&even, 18, 5, method);
        for (uint32_t k = 0; k < 18u * 5 * channels; k++) {
            const uint32_t c = k % channels, x = k / channels % 18, y = k / channels / 18;
            const uint32_t sum = (uint32_t)px(&even, 2 * x, 2 * y, c) +
                                 px(&even, 2 * x + 1, 2 * y, c) + px(&even, 2 * x, 2 * y + 1, c) +
                                 px(&even, 2 * x + 1, 2 * y + 1, c);
            ck_assert_uint_eq(px(&to, x, y, c), (sum + 2) / 4);
        }
    }
    to = resized(&from, W, H, 1);
    for (uint32_t y = 0; y < H; y++)
        ck_assert_mem_eq(to.pixels + y * to.stride, from.pixels + y * from.stride, W * channels);
}

LOOP_TEST(flat_images_stay_flat, 0, 4) /* _i: method */
{
    struct imrec_image from = image(3, GAP);
    if (_i == 2)
        return; /* cubic: not there */
    for (uint32_t y = 0; y < H; y++)
        memset(from.pixels + y * from.stride, 219, W * 3);
    for (uint32_t w = 1; w < 90; w += 11)
        for (uint32_t h = 1; h < 50; h += 7) {
            const struct imrec_image to = resized(&from, w, h, _i);
            for (uint32_t k = 0; k < w * h * 3; k++)
                ck_assert_uint_eq(px(&to, k / 3 % w, k / 3 / w, k % 3), 219);
        }
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refused(enum imrec_status st, const struct imrec_error *err, const char *word)
{
    ck_assert_int_eq(st, IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err->message, word) != NULL, "\"%s\" has no \"%s\"", err->message, word);
    for (size_t k = 0; k < sizeof(got); k++)
        ck_assert_uint_eq(got[k], 0xa5);
}

static void refuse_crop(const struct imrec_image *i, struct imrec_rect r,
                        const struct imrec_normalize *how, const char *word)
{
    struct imrec_error err;
    memset(got, 0xa5, sizeof(got));
    refused(imrec_image_crop_normalize(i, r, how, got, &err), &err, word);
}

TEST(crops_outside_the_image_are_refused)
{
    static const struct imrec_rect wrong[] = {
        {0, 0, 0, 1},          {0, 0, 1, 0},         {1, 0, W, 1},          {0, 1, 1, H},
        {W, 0, 1, 1},          {0, H, 1, 1},         {UINT32_MAX, 0, 2, 1}, {0, UINT32_MAX, 1, 2},
        {2, 0, UINT32_MAX, 1}, {0, 2, 1, UINT32_MAX}};
    const struct imrec_image i = image(3, 0);
    const struct imrec_normalize how = how_of(0);
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
        refuse_crop(&i, wrong[k], &how, "crop");
}

static const struct {
    struct imrec_image image;
    const char *word;
} bad_images[] = {{{NULL, W * 3, W, H, 3}, "NULL"},
                  {{memory, W * 3, W, H, 2}, "2 channels"},
                  {{memory, W * 3, W, H, 0}, "0 channels"},
                  {{memory, W * 5, W, H, 5}, "5 channels"},
                  {{memory, W * 3, 0, H, 3}, "0 x"},
                  {{memory, W * 3, W, 0, 3}, "x 0 px"},
                  {{memory, W * 3 - 1, W, H, 3}, "rows of 110 bytes"}};

LOOP_TEST(images_that_are_none_are_refused, 0, COUNT(bad_images))
{
    const struct imrec_image good = image(3, 0), *bad = &bad_images[_i].image;
    const struct imrec_normalize how = how_of(0);
    struct imrec_error err;
    refuse_crop(bad, crops[2], &how, bad_images[_i].word);
    refused(imrec_image_resize(bad, &good, 1, &err), &err, "source");
    refused(imrec_image_resize(&good, bad, 1, &err), &err, "target");
    refused(imrec_image_resize(&good, bad, 1, &err), &err, bad_images[_i].word);
}

TEST(other_bad_arguments_are_refused)
{
    const struct imrec_image i = image(3, 0), grey = {memory, W, W, H, 1};
    const struct imrec_normalize how = how_of(0);
    struct imrec_error err;
    refuse_crop(NULL, crops[0], &how, "NULL");
    refuse_crop(&i, crops[0], NULL, "NULL");
    refused(imrec_image_crop_normalize(&i, crops[0], &how, NULL, &err), &err, "NULL");
    refused(imrec_image_resize(NULL, &i, 1, &err), &err, "NULL");
    refused(imrec_image_resize(&i, NULL, 1, &err), &err, "NULL");
    refused(imrec_image_resize(&i, &grey, 1, &err), &err, "channels");
    for (int method = -1; method < 7; method++)
        if (method < 0 || method > 4)
            refused(imrec_image_resize(&i, &i, method, &err), &err, "inter_method");
    ck_assert_int_eq(imrec_image_resize(NULL, &i, 1, NULL), IMREC_ERR_ARGUMENT);
}

TEST(numbers_that_a_type_cannot_take_are_refused)
{
    const struct imrec_image i = image(3, 0);
    struct imrec_normalize how = how_of(IMREC_UINT8);
    how.mean[2] = 1;
    refuse_crop(&i, crops[0], &how, "uint8");
    how = how_of(IMREC_UINT8);
    how.mean_image = mean_image;
    refuse_crop(&i, crops[0], &how, "mean image");
    how = how_of(IMREC_INT8);
    how.std[1] = 2;
    refuse_crop(&i, crops[0], &how, "int8");
    how = how_of(IMREC_INT8);
    how.scale = 2;
    refuse_crop(&i, crops[0], &how, "int8");
    how = how_of(IMREC_FLOAT32);
    how.std[2] = 0;
    refuse_crop(&i, crops[0], &how, "channel 2");
    how = how_of(IMREC_FLOAT16);
    how.mean[1] = NAN;
    refuse_crop(&i, crops[0], &how, "channel 1");
    how = how_of(IMREC_FLOAT32);
    how.dtype = (enum imrec_dtype)5;
    refuse_crop(&i, crops[0], &how, "dtype 5");
    how = how_of(IMREC_FLOAT32);
    how.layout = (enum imrec_layout)2;
    refuse_crop(&i, crops[0], &how, "layout 2");
}
