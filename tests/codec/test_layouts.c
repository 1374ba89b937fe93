/* tests/codec/test_layouts.c - what cameras, scanners and web encoders make besides 4:4:4, 4:2:2
 * and 4:2:0 in one scan: other samplings, RGB, inks, other component numbers, tables of 16 bits,
 * components in scans of their own. Our decoder takes all of it, with libjpeg-turbo's pixels. */
#include "codec/jpeg/tiled.h"
#include "tests/support/images.h"
#include "tests/support/regions.h"
#include "tests/support/suite.h"
#include "tests/support/twin.h"

static const struct codec_limits limits = {.max_pixels = 1 << 24};
static struct twin g_twin;

static void begin(void)
{
    twin_begin(&g_twin);
}

static void end(void)
{
    tiled_use_always(false);
    twin_end(&g_twin);
}

#define S(name, ...) static const uint8_t name[] = {__VA_ARGS__}
S(all_wide, 0x21, 0x21, 0x21);
S(all_high, 0x12, 0x12, 0x12);
S(all_three, 0x31, 0x31, 0x31);
S(chroma_wide, 0x22, 0x21, 0x21);
S(chroma_high, 0x22, 0x12, 0x12);
S(chroma_apart, 0x22, 0x11, 0x21);
S(chroma_of_four, 0x41, 0x21, 0x11);
S(high_of_four, 0x14, 0x12, 0x11);
S(luma_small, 0x11, 0x21, 0x21);
S(luma_low, 0x11, 0x12, 0x22);
S(thirds, 0x31, 0x11, 0x11);
S(thirds_down, 0x13, 0x11, 0x11);
S(inks_small, 0x22, 0x11, 0x11, 0x11);
S(black_wide, 0x11, 0x11, 0x11, 0x21);

static const struct jpeg_layout layouts[] = {
    {.colours = COLOURS_YCC, .h = 1, .v = 2},
    {.colours = COLOURS_YCC, .h = 4, .v = 1},
    {.colours = COLOURS_YCC, .h = 4, .v = 2},
    {.colours = COLOURS_YCC, .h = 1, .v = 4},
    {.colours = COLOURS_YCC, .h = 2, .v = 4},
    {.colours = COLOURS_YCC, .h = 1, .v = 2, .progressive = true},
    {.colours = COLOURS_YCC, .h = 4, .v = 1, .progressive = true},
    {.colours = COLOURS_YCC, .sampling = all_wide},
    {.colours = COLOURS_YCC, .sampling = all_high},
    {.colours = COLOURS_YCC, .sampling = all_three},
    {.colours = COLOURS_YCC, .sampling = chroma_wide},
    {.colours = COLOURS_YCC, .sampling = chroma_high},
    {.colours = COLOURS_YCC, .sampling = chroma_apart},
    {.colours = COLOURS_YCC, .sampling = chroma_of_four},
    {.colours = COLOURS_YCC, .sampling = high_of_four},
    {.colours = COLOURS_YCC, .sampling = luma_small},
    {.colours = COLOURS_YCC, .sampling = luma_low},
    {.colours = COLOURS_YCC, .sampling = thirds},
    {.colours = COLOURS_YCC, .sampling = thirds_down},
    {.colours = COLOURS_YCC, .sampling = chroma_high, .progressive = true},
    {.colours = COLOURS_GREY, .h = 2, .v = 2},
    {.colours = COLOURS_GREY, .h = 1, .v = 4, .restart_mcus = 5},
    {.colours = COLOURS_GREY, .h = 2, .v = 2, .progressive = true},
    {.colours = COLOURS_RGB, .h = 1, .v = 1},
    {.colours = COLOURS_RGB, .h = 2, .v = 2},
    {.colours = COLOURS_RGB, .h = 1, .v = 1, .progressive = true},
    {.colours = COLOURS_RGB, .h = 1, .v = 1, .bare = true, .ids = "RGB"},
    {.colours = COLOURS_RGB, .sampling = all_wide, .bare = true, .ids = "RGB"},
    {.colours = COLOURS_CMYK, .h = 1, .v = 1},
    {.colours = COLOURS_CMYK, .h = 1, .v = 1, .bare = true},
    {.colours = COLOURS_CMYK, .h = 2, .v = 1, .progressive = true},
    {.colours = COLOURS_CMYK, .sampling = inks_small},
    {.colours = COLOURS_CMYK, .sampling = black_wide},
    {.colours = COLOURS_YCCK, .h = 1, .v = 1},
    {.colours = COLOURS_YCCK, .h = 2, .v = 2},
    {.colours = COLOURS_YCCK, .h = 2, .v = 1, .restart_rows = 1},
    {.colours = COLOURS_YCCK, .h = 2, .v = 2, .progressive = true, .script = 3},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .separate_scans = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .separate_scans = true, .restart_mcus = 7},
    {.colours = COLOURS_YCC, .h = 1, .v = 2, .separate_scans = true, .optimal = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .two_scans = true, .restart_rows = 1},
    {.colours = COLOURS_YCC, .sampling = chroma_high, .two_scans = true},
    {.colours = COLOURS_RGB, .h = 1, .v = 1, .separate_scans = true},
    {.colours = COLOURS_YCCK, .h = 2, .v = 2, .two_scans = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .bare = true, .ids = "X\2\3"},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .ids = "\0\1\2"},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .ids = "RGB"}, /* JFIF knows better */
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .ids = "\1\1\1"},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .wide = true, .quality = 1},
    {.colours = COLOURS_YCC, .h = 1, .v = 1, .wide = true, .quality = 2, .progressive = true},
    {.colours = COLOURS_GREY, .h = 1, .v = 1, .wide = true, .quality = 1},
};

/* Of one image: both numbers of channels, row by row and into memory, regions, scales. */
static uint32_t count_own(struct bytes jpeg, uint32_t width, uint32_t height, uint64_t *state)
{
    const struct imrec_rect all = {0, 0, width, height};
    uint32_t own = twin_compare(&g_twin, jpeg, &limits, TWIN_CHECK, all, 3);
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        own += twin_compare(&g_twin, jpeg, &limits, TWIN_REGION, all, channels);
        for (int i = 0; i < 3; i++)
            own += twin_compare(&g_twin, jpeg, &limits, i == 0 ? TWIN_ROWS : TWIN_REGION,
                                pick_region(state, width, height), channels);
        const uint32_t d = 2u << pick(state, 3);
        own += twin_compare_scaled(&g_twin, jpeg, &limits, d, channels,
                                   pick_region(state, (width + d - 1) / d, (height + d - 1) / d));
    }
    return own;
}

enum { OWN = 11 };

CASE(.timeout = 240, .setup = begin, .teardown = end)

LOOP_TEST(every_layout_has_libjpegs_pixels, 0, COUNT(layouts)) /* _i: layouts */
{
    uint64_t state = 9;
    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t width = 1 + pick(&state, i < 30 ? 20 : 150),
                       height = 1 + pick(&state, i < 30 ? 20 : 150);
        const struct bytes jpeg = jpeg_make(width, height, &layouts[_i]);
        tiled_use_always(i % 2 == 0);
        const uint32_t own = count_own(jpeg, width, height, &state);
        ck_assert_msg(own == OWN, "%u x %u: %u of %d", width, height, own, OWN);
        bytes_free(jpeg);
    }
}

/* Without its first segment of that marker; the caller frees. */
static struct bytes without(struct bytes jpeg, uint8_t marker, size_t *at)
{
    uint8_t *p = malloc(jpeg.n);
    *at = 2;
    while (jpeg.p[*at + 1] != marker)
        *at += 2 + load_be16(jpeg.p + *at + 2);
    const size_t n = 2 + load_be16(jpeg.p + *at + 2);
    memcpy(p, jpeg.p, *at);
    memcpy(p + *at, jpeg.p + *at + n, jpeg.n - *at - n);
    return (struct bytes){p, jpeg.n - n};
}

/* As frames of Motion JPEG; which codes, and how they are told from each other, decides their
 * number. */
LOOP_TEST(codes_that_are_left_out_are_the_standards, 0, 5) /* _i: codes left out */
{
    const struct jpeg_layout l = {
        .colours = COLOURS_YCC, .h = 2, .v = 1, .separate_scans = _i == 4};
    struct bytes jpeg = jpeg_make(90, 70, &l);
    uint64_t state = 3;
    for (int i = 0; i < (_i == 4 ? 2 : _i); i++) {
        size_t at;
        const struct bytes less = without(jpeg, 0xC4, &at);
        bytes_free(jpeg);
        jpeg = less;
    }
    ck_assert_uint_eq(count_own(jpeg, 90, 70, &state), OWN);
    bytes_free(jpeg);
}

TEST(codes_that_a_progressive_image_leaves_out_are_missing)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 1, .progressive = true};
    const struct bytes jpeg = jpeg_make(90, 70, &l);
    size_t at;
    const struct bytes less = without(jpeg, 0xC4, &at);
    const struct imrec_rect all = {0, 0, 90, 70};
    ck_assert(!twin_compare(&g_twin, less, &limits, TWIN_REGION, all, 3));
    bytes_free(less);
    bytes_free(jpeg);
}

/* 0xFF before markers. */
static size_t length_at(struct bytes jpeg, size_t at)
{
    return 256u * jpeg.p[at + 2] + jpeg.p[at + 3];
}

/* The bodies of all segments of this marker, before the first scan. */
static size_t bodies(struct bytes jpeg, uint8_t marker, uint8_t *to)
{
    size_t n = 0;
    for (size_t at = 2; jpeg.p[at + 1] != 0xDA; at += 2 + length_at(jpeg, at)) {
        if (jpeg.p[at + 1] != marker)
            continue;
        memcpy(to + n, jpeg.p + at + 4, length_at(jpeg, at) - 2);
        n += length_at(jpeg, at) - 2;
    }
    return n;
}

/* These in one segment, in the place of the first: so cameras write tables. */
static struct bytes joined(struct bytes jpeg, uint8_t marker)
{
    uint8_t body[4096], *p = malloc(jpeg.n);
    const size_t all = bodies(jpeg, marker, body);
    size_t n = 2, at = 2;
    bool written = false;
    memcpy(p, jpeg.p, 2);
    for (; jpeg.p[at + 1] != 0xDA; at += 2 + length_at(jpeg, at)) {
        if (jpeg.p[at + 1] != marker) {
            memcpy(p + n, jpeg.p + at, length_at(jpeg, at) + 2);
            n += length_at(jpeg, at) + 2;
        } else if (!written) {
            const uint8_t head[] = {0xFF, marker, (uint8_t)((all + 2) >> 8), (uint8_t)(all + 2)};
            memcpy(p + n, head, 4);
            memcpy(p + n + 4, body, all);
            n += 4 + all;
            written = true;
        }
    }
    memcpy(p + n, jpeg.p + at, jpeg.n - at);
    return (struct bytes){p, n + jpeg.n - at};
}

LOOP_TEST(tables_may_share_a_segment, 0, COUNT(layouts)) /* _i: layouts */
{
    const struct bytes jpeg = jpeg_make(70, 50, &layouts[_i]);
    const struct bytes quant = joined(jpeg, 0xDB), both = joined(quant, 0xC4);
    const struct imrec_rect all = {0, 0, 70, 50};
    const uint32_t channels = 3;
    ck_assert(both.n < jpeg.n || _i > 0); /* some have one segment of each */
    ck_assert(twin_compare(&g_twin, jpeg, &limits, TWIN_REGION, all, channels));
    ck_assert(twin_compare(&g_twin, both, &limits, TWIN_REGION, all, channels));
    bytes_free(jpeg);
    bytes_free(quant);
    bytes_free(both);
}

LOOP_TEST(fill_bytes_are_passed, 0, COUNT(layouts)) /* _i: layouts */
{
    const struct bytes jpeg = jpeg_make(61, 47, &layouts[_i]);
    uint8_t *p = malloc(2 * jpeg.n);
    uint64_t state = 8;
    size_t n = 0;
    for (size_t i = 0; i < jpeg.n; i++) {
        p[n++] = jpeg.p[i];
        const bool is_marker = jpeg.p[i] == 0xFF && jpeg.p[i + 1] >= 0xD0 && jpeg.p[i + 1] < 0xDE;
        for (uint32_t fill = i > 0 && is_marker ? pick(&state, 3) : 0; fill > 0; fill--)
            p[n++] = 0xFF;
    }
    const struct bytes filled = {p, n};
    ck_assert_uint_eq(count_own(filled, 61, 47, &state), OWN);
    bytes_free(filled);
    bytes_free(jpeg);
}

/* There libjpeg-turbo decodes an MCU twice, the first time with zeros for the data. */
TEST(a_fill_byte_before_a_stuffed_one_is_left_to_libjpeg)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 1, .v = 1, .quality = 95};
    const struct bytes jpeg = jpeg_make(200, 150, &l);
    const struct imrec_rect all = {0, 0, 200, 150};
    uint8_t *p = malloc(jpeg.n + 1);
    size_t at = jpeg.n / 2;
    while (jpeg.p[at] != 0xFF || jpeg.p[at + 1] != 0)
        at++;
    memcpy(p, jpeg.p, at);
    p[at] = 0xFF;
    memcpy(p + at + 1, jpeg.p + at, jpeg.n - at);
    ck_assert(!twin_compare(&g_twin, (struct bytes){p, jpeg.n + 1}, &limits, TWIN_REGION, all, 3));
    free(p);
    bytes_free(jpeg);
}

/* A byte changed, put in or left out. */
static struct bytes damaged(struct bytes jpeg, uint64_t *state)
{
    const size_t at = 2 + pick(state, (uint32_t)jpeg.n - 2);
    const uint32_t kind = pick(state, 3);
    uint8_t *p = malloc(jpeg.n + 1);
    memcpy(p, jpeg.p, at);
    p[at] = (uint8_t)(pick(state, 3) == 0 ? 0xFF : pick(state, 256));
    const size_t to = at + (kind != 1), from = at + (kind != 2);
    memcpy(p + to, jpeg.p + from, jpeg.n - from);
    return (struct bytes){p, to + jpeg.n - from};
}

LOOP_TEST(damage_is_judged_by_libjpeg, 0, COUNT(layouts)) /* _i: layouts */
{
    uint64_t state = 4;
    for (uint32_t i = 0; i < 150; i++) {
        const uint32_t width = 1 + pick(&state, 90), height = 1 + pick(&state, 90);
        const struct bytes jpeg = jpeg_make(width, height, &layouts[_i]);
        const struct bytes other = damaged(jpeg, &state);
        struct imrec_image_info info;
        tiled_use_always(i % 2 == 0);
        if (codec_begin(g_twin.own, other, &limits, &info, NULL) == IMREC_OK) {
            const struct imrec_rect r = pick_region(&state, info.width, info.height);
            const uint32_t channels = pick(&state, 2) == 0 ? 1 : 3;
            (void)twin_compare(&g_twin, other, &limits, TWIN_CHECK, r, 3);
            (void)twin_compare(&g_twin, other, &limits, TWIN_ROWS, r, channels);
        }
        bytes_free(other);
        bytes_free(jpeg);
    }
}
