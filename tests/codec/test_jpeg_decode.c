/* tests/codec/test_jpeg_decode.c - what a JPEG decoder keeps, mends, refuses. */
#include "base/alloc.h"
#include "codec/codec.h"
#include "codec/jpeg/jpeg_header.h"
#include "tests/support/guard.h"
#include "tests/support/images.h"

#include "tests/support/suite.h"
#include <stdlib.h>
#include <string.h>

static struct codec *g_codec;
static struct image g_out;
static struct imrec_image_info g_info;
static struct imrec_error g_err;

static void begin(void)
{
    ck_assert_int_eq(codec_new(&g_codec, NULL), IMREC_OK);
}

static void end(void)
{
    codec_free(g_codec);
    image_free(&g_out);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static enum imrec_status decode(struct bytes jpeg, bool accept_truncated, uint32_t *warnings)
{
    const struct codec_limits limits = {.max_pixels = 1 << 20,
                                        .accept_truncated = accept_truncated};
    const enum imrec_status st = codec_begin(g_codec, jpeg, &limits, &g_info, &g_err);
    if (st != IMREC_OK)
        return st;
    return codec_decode_scaled(g_codec, 1, 3, &g_out, warnings, &g_err);
}

/* Offset of the payload of the first segment with this marker, or 0. */
static size_t find_segment(struct bytes jpeg, uint8_t marker)
{
    size_t at = 2;
    while (at + 4 < jpeg.n && jpeg.p[at + 1] != marker)
        at += 2 + 256u * jpeg.p[at + 2] + jpeg.p[at + 3];
    return at + 4 < jpeg.n ? at + 4 : 0;
}

/* The JPEG without its first segment of this kind; `jpeg` is freed. */
static struct bytes without_segment(struct bytes jpeg, uint8_t marker)
{
    const size_t at = find_segment(jpeg, marker);
    ck_assert_uint_ne(at, 0);
    const size_t length = 256u * jpeg.p[at - 2] + jpeg.p[at - 1];
    uint8_t *p = malloc(jpeg.n);
    memcpy(p, jpeg.p, at - 4);
    memcpy(p + at - 4, jpeg.p + at - 2 + length, jpeg.n - (at - 2 + length));
    const struct bytes cut = {p, jpeg.n - length - 2};
    bytes_free(jpeg);
    return cut;
}

static const uint8_t tables[] = {0xDB, 0xC4};
CASE(.timeout = 60, .setup = begin, .teardown = end)

/* quantisation, Huffman */

LOOP_TEST(an_image_without_tables_is_never_read_with_those_of_another, 0, 2) /* _i: tables */
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 50};
    const struct bytes whole = jpeg_make(64, 48, &l);
    const struct bytes poor = without_segment(jpeg_make(64, 48, &l), tables[_i]);
    struct codec *fresh = g_codec;
    uint32_t first, second, ignored;
    const enum imrec_status alone = decode(poor, true, &first);
    struct image before = g_out;
    g_out = (struct image){0};
    ck_assert_int_eq(codec_new(&g_codec, NULL), IMREC_OK); /* a decoder that has seen a whole one */
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(decode(whole, false, &ignored), IMREC_OK);
        ck_assert_int_eq(decode(poor, true, &second), alone);
        if (alone == IMREC_OK) {
            ck_assert_uint_eq(first, second);
            ck_assert(memcmp(before.view.pixels, g_out.view.pixels, 64 * 48 * 3) == 0);
        }
    }
    codec_free(fresh);
    image_free(&before);
    bytes_free(whole);
    bytes_free(poor);
}

static const struct jpeg_layout layouts[] = {
    {.colours = COLOURS_YCC, .h = 2, .v = 2},
    {.colours = COLOURS_GREY, .h = 1, .v = 1},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .progressive = true},
    {.colours = COLOURS_YCC, .h = 1, .v = 1, .restart_rows = 1},
    {.colours = COLOURS_RGB, .h = 1, .v = 1, .arithmetic = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .separate_scans = true},
    {.colours = COLOURS_CMYK, .h = 1, .v = 1},
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

LOOP_TEST(a_cut_is_refused_where_pixels_are_missing_and_mended_where_that_is_accepted, 0, LAYOUTS)
{
    const struct bytes jpeg = jpeg_make(80, 50, &layouts[_i]);
    for (size_t n = jpeg.n - 3; n >= 16; n -= n < 80 ? 1 : 64) {
        struct guarded g = guarded_copy(jpeg.p, n);
        const struct bytes cut = {g.p, n};
        uint32_t warnings = 0;
        const enum imrec_status st = decode(cut, false, &warnings);
        if (st == IMREC_OK)
            ck_assert_uint_gt(n + 8, jpeg.n); /* all pixels, no end marker */
        else
            ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
        const enum imrec_status mended = decode(cut, true, &warnings);
        ck_assert_int_eq(mended == IMREC_OK, g_info.width != 0);
        if (mended == IMREC_OK)
            ck_assert_uint_gt(warnings, 0);
        guarded_free(g);
    }
    bytes_free(jpeg);
}

LOOP_TEST(a_missing_end_marker_alone_is_a_warning, 0, LAYOUTS)
{
    if (layouts[_i].arithmetic)
        return; /* where a missing marker cannot be told from a cut */
    const struct bytes jpeg = jpeg_make(80, 50, &layouts[_i]);
    uint32_t warnings;
    ck_assert_int_eq(decode(jpeg, false, &warnings), IMREC_OK);
    ck_assert_uint_eq(warnings, 0);
    ck_assert_int_eq(decode((struct bytes){jpeg.p, jpeg.n - 2}, false, &warnings), IMREC_OK);
    ck_assert_uint_eq(warnings, 1);
    ck_assert_int_eq(codec_check(g_codec, &warnings, NULL), IMREC_OK);
    ck_assert_uint_eq(warnings, 1);
    bytes_free(jpeg);
}

LOOP_TEST(extraneous_bytes_before_the_end_are_a_warning, 0, 4)
{
    const struct bytes jpeg = jpeg_make(80, 50, &layouts[_i]);
    uint8_t *p = calloc(1, jpeg.n + 9);
    uint32_t warnings;
    memcpy(p, jpeg.p, jpeg.n - 2);
    memcpy(p + jpeg.n + 7, jpeg.p + jpeg.n - 2, 2);
    ck_assert_int_eq(decode((struct bytes){p, jpeg.n + 9}, false, &warnings), IMREC_OK);
    ck_assert_uint_gt(warnings, 0);
    free(p);
    bytes_free(jpeg);
}

TEST(more_scans_than_allowed_are_refused_before_decoding)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = true};
    const struct bytes jpeg = jpeg_make(80, 50, &l); /* 10 scans */
    for (uint32_t most = 9; most <= 10; most++) {
        const struct codec_limits limits = {.max_pixels = 1 << 20, .max_scans = most};
        ck_assert_int_eq(codec_begin(g_codec, jpeg, &limits, &g_info, &g_err),
                         most == 9 ? IMREC_ERR_LIMIT : IMREC_OK);
    }
    bytes_free(jpeg);
}

/* As libjpeg-turbo does, with a warning. */
TEST(bytes_between_segments_are_passed_over)
{
    static const uint8_t between[] = {0xC4, 0, 0x3B, 0xDA, 1};
    const struct bytes jpeg = jpeg_with_orientation(jpeg_make(40, 30, &layouts[0]), 6, false);
    uint8_t *p = malloc(jpeg.n + sizeof(between));
    const struct bytes longer = {p, jpeg.n + sizeof(between)};
    const size_t first = 4 + (size_t)jpeg.p[5]; /* the end of the first segment */
    struct jpeg_head head, truth;
    uint32_t warnings;
    memcpy(p, jpeg.p, first);
    memcpy(p + first, between, sizeof(between));
    memcpy(p + first + sizeof(between), jpeg.p + first, jpeg.n - first);
    ck_assert_int_eq(jpeg_head_read(jpeg, 100, &truth, NULL), IMREC_OK);
    ck_assert_int_eq(jpeg_head_read(longer, 100, &head, &g_err), IMREC_OK);
    ck_assert_uint_eq(head.orientation, 6);
    ck_assert_uint_eq(head.width, truth.width);
    ck_assert_uint_eq(head.height, truth.height);
    ck_assert_uint_eq(head.scans, truth.scans);
    ck_assert_msg(decode(longer, false, &warnings) == IMREC_OK, "%s", g_err.message);
    ck_assert_uint_gt(warnings, 0);
    free(p);
    bytes_free(jpeg);
}

LOOP_TEST(the_walk_over_markers_stays_inside_any_cut, 0, 2)
{
    const struct bytes jpeg = jpeg_with_orientation(jpeg_make(40, 30, &layouts[0]), 6, _i % 2 != 0);
    struct jpeg_head head;
    ck_assert_int_eq(jpeg_head_read(jpeg, 100, &head, NULL), IMREC_OK);
    ck_assert_uint_eq(head.orientation, 6);
    ck_assert_uint_eq(head.width, 40);
    ck_assert_uint_eq(head.height, 30);
    ck_assert_str_eq(jpeg_head_sampling(&head), "4:2:0");
    for (size_t n = 0; n < jpeg.n; n++) {
        struct guarded g = guarded_copy(jpeg.p, n);
        (void)!jpeg_head_read((struct bytes){g.p, n}, 100, &head, &g_err);
        guarded_free(g);
    }
    bytes_free(jpeg);
}
