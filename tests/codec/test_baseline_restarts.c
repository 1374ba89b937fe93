/* tests/codec/test_baseline_restarts.c - restart intervals that nothing of a region comes from:
 * they are not looked at, so that damage there changes nothing; reading all of the image finds it.
 */
#include "tests/support/images.h"
#include "tests/support/twin.h"

#include "tests/support/suite.h"

enum { WIDTH = 250, HEIGHT = 230, MCU = 16, ACROSS = 16, DOWN = 15, MOST_BYTES = 1 << 17 };

static const struct codec_limits limits = {.max_pixels = 1 << 20};
static uint8_t g_bytes[MOST_BYTES];
static size_t g_begin[ACROSS * DOWN + 1]; /* of each interval; then the end of the last */
static size_t g_intervals;

/* Where the intervals begin in a copy of the image, g_bytes. */
static void lay_out(struct bytes jpeg)
{
    size_t at = 2;
    ck_assert_uint_lt(jpeg.n, MOST_BYTES);
    memcpy(g_bytes, jpeg.p, jpeg.n);
    while (jpeg.p[at + 1] != 0xDA)
        at += 2 + 256u * jpeg.p[at + 2] + jpeg.p[at + 3];
    g_begin[0] = at + 2 + jpeg.p[at + 3];
    g_intervals = 1;
    for (at = g_begin[0]; at + 1 < jpeg.n; at++)
        if (jpeg.p[at] == 0xFF && jpeg.p[at + 1] != 0)
            g_begin[g_intervals++] = at + 2;
    g_intervals--; /* what follows the end marker is none */
}

/* Other bytes for the last `part` of `of` parts of an interval, as entropy-coded data are: no
 * markers. */
static void damage(size_t interval, size_t part, size_t of, uint64_t *state)
{
    const size_t end = g_begin[interval + 1] - 2, begin = g_begin[interval];
    for (size_t i = end - (end - begin) * part / of; i < end; i++)
        if (g_bytes[i] != 0xFF && (i == begin || g_bytes[i - 1] != 0xFF))
            g_bytes[i] = (uint8_t)pick(state, 255);
}

/* The region of the damaged image is that of the image. */
static void must_be_whole(struct twin *t, struct bytes jpeg, struct imrec_rect r)
{
    const struct bytes damaged = {g_bytes, jpeg.n};
    const struct twin_result a = twin_run(t->own, damaged, &limits, TWIN_ROWS, r, 3, &t->made);
    const struct twin_result b = twin_run(t->libjpeg, jpeg, &limits, TWIN_ROWS, r, 3, &t->truth);
    ck_assert_msg(a.st == IMREC_OK && a.warnings == 0, "%s", a.err.message);
    ck_assert_int_eq(b.st, IMREC_OK);
    ck_assert_mem_eq(t->made.view.pixels, t->truth.view.pixels, (size_t)r.width * r.height * 3);
    ck_assert_int_gt(codec_baseline_count(t->own), 0);
}

/* Reading all of it tells of the damage, in the words of libjpeg. */
static void must_be_found(struct twin *t, struct bytes jpeg)
{
    const struct bytes damaged = {g_bytes, jpeg.n};
    const struct twin_result a = twin_run(t->own, damaged, &limits, TWIN_CHECK,
                                          (struct imrec_rect){0, 0, WIDTH, HEIGHT}, 3, &t->made);
    ck_assert(a.st != IMREC_OK || a.warnings != 0);
    (void)twin_compare(t, damaged, &limits, TWIN_CHECK, (struct imrec_rect){0, 0, WIDTH, HEIGHT},
                       3);
}

static const struct imrec_rect regions[] = {{0, 0, 40, 40},           {100, 100, 31, 33},
                                            {3, HEIGHT - 30, 60, 30}, {0, 97, WIDTH, 16},
                                            {120, 0, 1, HEIGHT},      {WIDTH - 9, 64, 9, 1}};
enum { REGIONS = sizeof(regions) / sizeof(regions[0]) };

CASE(.timeout = 60)

LOOP_TEST(rows_above_and_below_are_passed, 0, REGIONS) /* _i: regions */
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1};
    const struct bytes jpeg = jpeg_make(WIDTH, HEIGHT, &l);
    const struct imrec_rect r = regions[_i];
    uint64_t state = 3;
    struct twin twin;
    bool any = false;
    twin_begin(&twin);
    lay_out(jpeg);
    ck_assert_uint_eq(g_intervals, DOWN);
    for (uint32_t y = 0; y < DOWN; y++) /* of chroma, a row more is needed */
        if (y * MCU + MCU + 1 < r.y || y * MCU > r.y + r.height) {
            damage(y, 1, 1, &state);
            any = true;
        }
    must_be_whole(&twin, jpeg, r);
    if (any)
        must_be_found(&twin, jpeg);
    twin_end(&twin);
    bytes_free(jpeg);
}

TEST(a_row_is_left_after_its_last_mcu_that_is_wanted)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1};
    const struct bytes jpeg = jpeg_make(WIDTH, HEIGHT, &l);
    const struct imrec_rect r = {5, 20, 50, 150};
    uint64_t state = 4;
    struct twin twin;
    twin_begin(&twin);
    lay_out(jpeg);
    for (uint32_t y = 0; y < DOWN; y++)
        damage(y, 1, 4, &state);
    must_be_whole(&twin, jpeg, r);
    must_be_found(&twin, jpeg);
    damage(3, 1, 1, &state); /* one that is wanted */
    const struct twin_result a =
        twin_run(twin.own, (struct bytes){g_bytes, jpeg.n}, &limits, TWIN_ROWS, r, 3, &twin.made);
    ck_assert(
        a.st != IMREC_OK || a.warnings != 0 ||
        memcmp(twin.made.view.pixels, twin.truth.view.pixels, (size_t)r.width * r.height * 3) != 0);
    twin_end(&twin);
    bytes_free(jpeg);
}

LOOP_TEST(short_intervals_beside_a_region_are_passed, 1, 9) /* _i: MCUs of an interval */
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_mcus = _i};
    const struct bytes jpeg = jpeg_make(WIDTH, HEIGHT, &l);
    const struct imrec_rect r = {130, 110, 25, 60};
    uint64_t state = 5;
    struct twin twin;
    twin_begin(&twin);
    lay_out(jpeg);
    for (size_t i = 0; i < g_intervals; i++) {
        bool wanted = false;
        for (size_t m = i * (size_t)_i; m < (i + 1) * (size_t)_i; m++) {
            const size_t x = m % ACROSS * MCU, y = m / ACROSS * MCU;
            wanted = wanted || (x + MCU + 1 >= r.x && x <= r.x + r.width && y + MCU + 1 >= r.y &&
                                y <= r.y + r.height);
        }
        if (!wanted)
            damage(i, 1, 1, &state);
    }
    must_be_whole(&twin, jpeg, r);
    must_be_found(&twin, jpeg);
    twin_end(&twin);
    bytes_free(jpeg);
}

TEST(a_marker_that_is_lost_or_out_of_order_is_found_on_the_way)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1};
    const struct bytes jpeg = jpeg_make(WIDTH, HEIGHT, &l);
    const struct imrec_rect below = {0, 200, 50, 20}, above = {0, 0, 50, 20};
    struct twin twin;
    twin_begin(&twin);
    for (int lost = 0; lost < 2; lost++) {
        lay_out(jpeg);
        g_bytes[g_begin[6] - 1] = lost ? 0 : 0xD0; /* it was 0xD5 */
        const uint64_t before = codec_baseline_count(twin.own);
        (void)twin_compare(&twin, (struct bytes){g_bytes, jpeg.n}, &limits, TWIN_ROWS, below, 3);
        ck_assert_uint_eq(codec_baseline_count(twin.own), before);
        must_be_whole(&twin, jpeg, above);
    }
    twin_end(&twin);
    bytes_free(jpeg);
}
