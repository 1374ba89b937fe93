/* tests/codec/test_jpeg_tile.c - JPEGs coded again in tiles: pixels, markers and what follows the
 * image stay; what cannot be read without a warning stays as it is. */
#include "base/alloc.h"
#include "tests/support/images.h"
#include "tests/support/twin.h"

#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct codec_limits limits = {.max_pixels = 1 << 20};

static const struct jpeg_layout layouts[] = {
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .optimal = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .quality = 100},
    {.colours = COLOURS_YCC, .h = 1, .v = 1, .progressive = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = true, .restart_mcus = 3},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .separate_scans = true},
    {.colours = COLOURS_YCC, .h = 1, .v = 2, .restart_rows = 1},
    {.colours = COLOURS_YCC, .h = 4, .v = 1},
    {.colours = COLOURS_GREY, .h = 1, .v = 1},
    {.colours = COLOURS_RGB, .h = 1, .v = 1},
    {.colours = COLOURS_CMYK, .h = 1, .v = 1},
    {.colours = COLOURS_YCCK, .h = 2, .v = 2},
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

/* The image with a marker of an application that nobody knows, a comment, and bytes after its end.
 */
static struct bytes with_more(struct bytes jpeg)
{
    static const char app[] = "\xFF\xE5\0\x0Bsomewhat", comment[] = "\xFF\xFE\0\x07hello";
    uint8_t *p = malloc(jpeg.n + 64), *to = p;
    memcpy(to, jpeg.p, 2);
    to += 2;
    memcpy(to, app, 13);
    to += 13;
    memcpy(to, comment, 9);
    to += 9;
    memcpy(to, jpeg.p + 2, jpeg.n - 2);
    to += jpeg.n - 2;
    memcpy(to, "and more", 8);
    return (struct bytes){p, (size_t)(to + 8 - p)};
}

static void
must_be_equal(struct twin *t, struct bytes a, struct bytes b, uint32_t width, uint32_t height)
{
    const struct imrec_rect all = {0, 0, width, height};
    const struct twin_result x = twin_run(t->libjpeg, a, &limits, TWIN_REGION, all, 3, &t->truth);
    const struct twin_result y = twin_run(t->libjpeg, b, &limits, TWIN_REGION, all, 3, &t->made);
    ck_assert(x.st == IMREC_OK && y.st == IMREC_OK);
    ck_assert_mem_eq(t->truth.view.pixels, t->made.view.pixels, (size_t)width * height * 3);
}

typedef enum imrec_status
rewrite_fn(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err);

/* A copy of what came of it; NULL: it stays as it is. */
static struct bytes rewritten(struct codec *c, rewrite_fn *rewrite, struct bytes jpeg)
{
    struct imrec_image_info info;
    struct imrec_error err;
    struct bytes out;
    bool done;
    ck_assert_msg(codec_begin(c, jpeg, &limits, &info, &err) == IMREC_OK, "%s", err.message);
    ck_assert_msg(rewrite(c, &done, &out, &err) == IMREC_OK, "%s", err.message);
    if (!done) {
        ck_assert(out.p == jpeg.p && out.n == jpeg.n);
        return (struct bytes){NULL, 0};
    }
    uint8_t *p = malloc(out.n);
    memcpy(p, out.p, out.n);
    return (struct bytes){p, out.n};
}

static struct bytes tile(struct codec *c, struct bytes jpeg)
{
    return rewritten(c, codec_tile_jpeg, jpeg);
}

CASE(.timeout = 60)

LOOP_TEST(pixels_and_markers_stay, 0, LAYOUTS) /* _i: layouts */
{
    static const uint32_t sizes[][2] = {{1, 1}, {16, 16}, {75, 100}, {341, 37}};
    struct twin t;
    twin_begin(&t);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct bytes plain = jpeg_make(sizes[i][0], sizes[i][1], &layouts[_i]);
        const struct bytes jpeg = with_more(plain);
        const struct bytes tiled = tile(t.own, jpeg);
        struct jpeg_head head;
        ck_assert_ptr_nonnull(tiled.p);
        must_be_equal(&t, jpeg, tiled, sizes[i][0], sizes[i][1]);
        ck_assert_int_eq(jpeg_head_read(tiled, 10, &head, NULL), IMREC_OK);
        ck_assert(head.restarts && !head.many_scans && !jpeg_head_progressive(&head));
        ck_assert(bytes_hold(tiled, "\xFF\xE5\0\x0Bsomewhat", 13) &&
                  bytes_hold(tiled, "\xFF\xFE\0\x07hello", 9));
        ck_assert_mem_eq(tiled.p + tiled.n - 8, "and more", 8);
        const struct bytes again = tile(t.own, tiled);
        ck_assert(again.n == tiled.n && memcmp(again.p, tiled.p, tiled.n) == 0);
        bytes_free(again);
        bytes_free(tiled);
        bytes_free(jpeg);
        bytes_free(plain);
    }
    twin_end(&t);
}

TEST(orientation_stays)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2};
    const struct bytes jpeg = jpeg_with_orientation(jpeg_make(40, 30, &l), 6, true);
    struct imrec_image_info info;
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    const struct bytes tiled = tile(c, jpeg);
    ck_assert_int_eq(codec_begin(c, tiled, &limits, &info, NULL), IMREC_OK);
    ck_assert_int_eq(info.orientation, 6);
    codec_free(c);
    bytes_free(tiled);
    bytes_free(jpeg);
}

TEST(what_has_defects_or_is_arithmetic_stays_as_it_is)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 95};
    const struct jpeg_layout arithmetic = {
        .colours = COLOURS_YCC, .h = 2, .v = 2, .arithmetic = true};
    const struct bytes jpeg = jpeg_make(150, 100, &l), coded = jpeg_make(50, 50, &arithmetic);
    struct codec *c;
    uint32_t kept = 0;
    uint64_t state = 4;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_ptr_null(tile(c, coded).p);
    ck_assert_ptr_null(tile(c, (struct bytes){jpeg.p, jpeg.n * 2 / 3}).p);
    for (uint32_t i = 0; i < 200; i++) {
        uint8_t *p = (uint8_t *)jpeg.p + jpeg.n / 2 + pick(&state, (uint32_t)jpeg.n / 2 - 2);
        const uint8_t was = *p;
        *p = (uint8_t)pick(&state, 256);
        const struct bytes tiled = tile(c, jpeg);
        kept += tiled.p == NULL;
        bytes_free(tiled);
        *p = was;
    }
    ck_assert_uint_gt(kept, 20);
    const struct bytes whole = tile(c, jpeg); /* nothing is left of the others */
    ck_assert_ptr_nonnull(whole.p);
    bytes_free(whole);
    codec_free(c);
    bytes_free(jpeg);
    bytes_free(coded);
}

LOOP_TEST(baseline_writes_progressive_images_again_and_no_others, 0, LAYOUTS) /* _i: layouts */
{
    struct twin t;
    struct jpeg_head head;
    twin_begin(&t);
    const struct bytes made = jpeg_make(75, 100, &layouts[_i]), jpeg = with_more(made);
    const struct bytes plain = rewritten(t.own, codec_baseline_jpeg, jpeg);
    bytes_free(made);
    ck_assert_int_eq(plain.p != NULL, layouts[_i].progressive);
    if (plain.p != NULL) {
        must_be_equal(&t, jpeg, plain, 75, 100);
        ck_assert_int_eq(jpeg_head_read(plain, 10, &head, NULL), IMREC_OK);
        ck_assert(!head.restarts && !head.many_scans && !jpeg_head_progressive(&head));
        ck_assert_mem_eq(plain.p + plain.n - 8, "and more", 8);
        const struct bytes a = tile(t.own, jpeg), b = tile(t.own, plain); /* nothing is lost */
        ck_assert(a.n == b.n && memcmp(a.p, b.p, a.n) == 0);
        bytes_free(a);
        bytes_free(b);
    }
    bytes_free(plain);
    bytes_free(jpeg);
    twin_end(&t);
}

/* Whatever was done to it: what is compared with is the same. */
LOOP_TEST(plain_is_the_same_for_tiles_and_progressive_images, 0, LAYOUTS) /* _i: layouts */
{
    struct twin t;
    struct jpeg_head head;
    twin_begin(&t);
    const struct bytes jpeg = jpeg_make(75, 100, &layouts[_i]), tiled = tile(t.own, jpeg);
    const struct bytes plain = rewritten(t.own, codec_plain_jpeg, tiled);
    ck_assert_ptr_nonnull(plain.p);
    must_be_equal(&t, jpeg, plain, 75, 100);
    ck_assert_int_eq(jpeg_head_read(plain, 10, &head, NULL), IMREC_OK);
    ck_assert(!head.restarts && !head.many_scans && !jpeg_head_progressive(&head));
    const struct bytes own = rewritten(t.own, codec_plain_jpeg, jpeg);
    if (own.p != NULL)
        ck_assert(own.n == plain.n && memcmp(own.p, plain.p, own.n) == 0);
    const struct bytes again = rewritten(t.own, codec_plain_jpeg, plain);
    ck_assert_ptr_null(again.p);
    bytes_free(own);
    bytes_free(plain);
    bytes_free(tiled);
    bytes_free(jpeg);
    twin_end(&t);
}

TEST(an_image_that_cannot_be_one_scan_stays_as_it_is)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .separate_scans = true};
    const struct bytes jpeg = jpeg_make(64, 64, &l);
    struct codec *c;
    uint8_t *p = (uint8_t *)jpeg.p;
    size_t at = 0;
    while (memcmp(p + at, "\xFF\xC0", 2) != 0)
        at++;
    p[at + 11] = 0x44; /* 16 blocks of the first component: more than an MCU of several has */
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_ptr_null(tile(c, jpeg).p);
    codec_free(c);
    bytes_free(jpeg);
}

/* Standard tables would need 1.75 times the bytes that were claimed: it is given up, also where a
 * buffer has the room. */
TEST(an_image_of_too_short_codes_stays_as_it_is)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 1, .v = 1, .quality = 100};
    const struct bytes jpeg = jpeg_of_short_codes(5000), large = jpeg_make(350, 350, &l);
    const struct bytes few = jpeg_of_short_codes(40); /* which headers hide */
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_ptr_null(tile(c, jpeg).p);
    for (int i = 0; i < 2; i++) {
        const struct bytes tiled = tile(c, i == 0 ? large : few);
        ck_assert_ptr_nonnull(tiled.p);
        bytes_free(tiled);
        ck_assert_ptr_null(tile(c, jpeg).p);
    }
    codec_free(c);
    bytes_free(jpeg);
    bytes_free(large);
    bytes_free(few);
}

TEST(memory_that_runs_out_is_an_error_and_the_next_image_is_written)
{
    const struct bytes jpeg = jpeg_make(75, 100, &layouts[3]);
    struct imrec_image_info info;
    struct imrec_error err;
    struct bytes out;
    long failures = 0;
    for (bool done = false; !done; failures++) {
        struct codec *c;
        ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
        ck_assert_int_eq(codec_begin(c, jpeg, &limits, &info, &err), IMREC_OK);
        imrec_alloc_fail_after(failures);
        const enum imrec_status st = codec_tile_jpeg(c, &done, &out, &err);
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(st, done ? IMREC_OK : IMREC_ERR_NO_MEMORY);
        const struct bytes tiled = tile(c, jpeg);
        ck_assert_ptr_nonnull(tiled.p);
        bytes_free(tiled);
        codec_free(c);
    }
    ck_assert_int_gt(failures, 5);
    ck_assert_int_eq(imrec_alloc_live(), 0);
    bytes_free(jpeg);
}
