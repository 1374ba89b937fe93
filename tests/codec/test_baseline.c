/* tests/codec/test_baseline.c - our decoder for plain JPEG: libjpeg-turbo's pixels, and which
 * images it takes. */
#include "base/alloc.h"
#include "codec/jpeg/baseline.h"
#include "tests/support/images.h"
#include "tests/support/regions.h"
#include "tests/support/twin.h"

#include "tests/support/suite.h"

static const struct codec_limits limits = {.max_pixels = 1 << 24};
static struct twin g_twin;

static void begin(void)
{
    twin_begin(&g_twin);
}

static void end(void)
{
    twin_end(&g_twin);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* How many of: the check, the whole, `regions` regions, in 1 and 3 channels, were ours. */
static uint32_t count_own(struct bytes jpeg, uint32_t width, uint32_t height, uint32_t regions)
{
    const struct imrec_rect all = {0, 0, width, height};
    uint64_t state = jpeg.n * 31u + width;
    uint32_t own = twin_compare(&g_twin, jpeg, &limits, TWIN_CHECK, all, 3);
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        own += twin_compare(&g_twin, jpeg, &limits, TWIN_REGION, all, channels);
        for (uint32_t i = 0; i < regions; i++)
            own += twin_compare(&g_twin, jpeg, &limits, TWIN_REGION,
                                pick_region(&state, width, height), channels);
    }
    return own;
}

static const struct jpeg_layout samplings[] = {
    {.colours = COLOURS_GREY, .h = 1, .v = 1},
    {.colours = COLOURS_YCC, .h = 1, .v = 1},
    {.colours = COLOURS_YCC, .h = 2, .v = 1},
    {.colours = COLOURS_YCC, .h = 2, .v = 2},
};
enum { SAMPLINGS = 4 };

static uint32_t
count_own_made(uint32_t width, uint32_t height, const struct jpeg_layout *l, uint32_t regions)
{
    const struct bytes jpeg = jpeg_make(width, height, l);
    const uint32_t own = count_own(jpeg, width, height, regions);
    bytes_free(jpeg);
    return own;
}

CASE(.timeout = 240, .setup = begin, .teardown = end)

LOOP_TEST(every_size_is_decoded_to_libjpegs_pixels, 0, SAMPLINGS) /* _i: samplings */
{
    const struct jpeg_layout l = samplings[_i];
    for (uint32_t width = 1; width <= 40; width++)
        for (uint32_t height = 1 + width % 3; height <= 40; height += 3)
            ck_assert_uint_eq(count_own_made(width, height, &l, 3), 9);
}

LOOP_TEST(every_quality_is_decoded_to_libjpegs_pixels, 0,
          2 * SAMPLINGS) /* _i: samplings x tables */
{
    struct jpeg_layout l = samplings[_i % SAMPLINGS];
    l.optimal = _i >= SAMPLINGS;
    for (l.quality = 1; l.quality <= 100; l.quality++)
        ck_assert_uint_eq(count_own_made(75, 60, &l, 4), 11);
}

LOOP_TEST(regions_are_cut_out_of_images_of_any_restart_interval, 0, SAMPLINGS) /* _i: samplings */
{
    struct jpeg_layout l = samplings[_i];
    l.quality = 60;
    for (l.restart_mcus = 0; l.restart_mcus <= 30; l.restart_mcus++)
        ck_assert_uint_eq(count_own_made(201, 163, &l, 20), 43);
    l.restart_mcus = 0;
    for (l.restart_rows = 1; l.restart_rows <= 3; l.restart_rows++)
        ck_assert_uint_eq(count_own_made(163, 201, &l, 20), 43);
}

LOOP_TEST(wide_and_high_images_are_decoded_to_libjpegs_pixels, 0, SAMPLINGS) /* _i: samplings */
{
    ck_assert_uint_eq(count_own_made(3001, 19, &samplings[_i], 20), 43);
    ck_assert_uint_eq(count_own_made(19, 3001, &samplings[_i], 20), 43);
}

static const struct jpeg_layout others[] = {
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .arithmetic = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = true, .arithmetic = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .separate_scans = true, .ids = "\1\1\2"},
};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

LOOP_TEST(what_is_not_plain_is_left_to_libjpeg, 0, OTHERS) /* _i: kinds */
{
    ck_assert_uint_eq(count_own_made(61, 47, &others[_i], 3), 0);
}

/* Bytes put in at `at`; the caller frees. */
static struct bytes with_bytes(struct bytes jpeg, size_t at, const void *more, size_t n)
{
    uint8_t *p = malloc(jpeg.n + n);
    memcpy(p, jpeg.p, at);
    memcpy(p + at, more, n);
    memcpy(p + at + n, jpeg.p + at, jpeg.n - at);
    return (struct bytes){p, jpeg.n + n};
}

static const struct {
    const char *bytes;
    size_t n, from_end; /* where they are put in: 2 = before the end marker; 0 = after SOI */
    bool own;
} additions[] = {
    {"\xFF\xFE\0\5abc", 7, 0, true}, /* a comment */
    {"\xFF\xED\0\5abc", 7, 0, true}, /* an application's segment */
    {"abc", 3, 0, false},            /* no marker */
    {"\xFF", 1, 0, true},            /* a fill byte */
    {"\xFF\xEE\0\x0E"
     "Adobe\0d\0\0\0\0\1",
     16, 0, true},                                            /* what JFIF says already */
    {"\xFF\xE0\0\x10JFIF\0\2\1\0\0\1\0\1\0\0", 18, 0, false}, /* another JFIF */
    {"\xFF\xDD\0\4\0\0", 6, 0, true},                         /* no restart markers */
    {"\xFF\xDD\0\4\0\7", 6, 0, false},                        /* some, which are missing */
    {"\0", 1, 2, false},                                      /* bytes that nobody reads */
    {"\xFF\xD0", 2, 2, false},                                /* a restart marker too many */
    {"\xFF\xFF", 2, 2, true},                                 /* fill bytes */
    {"abc", 3, 1000, true},                                   /* behind the end */
};
enum { ADDITIONS = sizeof(additions) / sizeof(additions[0]) };

LOOP_TEST(what_is_added_to_a_plain_image_is_judged_as_libjpeg_does, 0,
          ADDITIONS) /* _i: additions */
{
    for (int i = 0; i < SAMPLINGS; i++) {
        const struct bytes jpeg = jpeg_make(61, 47, &samplings[i]);
        const size_t from_end = additions[_i].from_end;
        const size_t at = from_end == 0 ? 2 : from_end > 2 ? jpeg.n : jpeg.n - from_end;
        const struct bytes more = with_bytes(jpeg, at, additions[_i].bytes, additions[_i].n);
        ck_assert_uint_eq(count_own(more, 61, 47, 0), additions[_i].own ? 3 : 0);
        (void)count_own(more, 61, 47, 4); /* some regions end before that place */
        bytes_free(more);
        bytes_free(jpeg);
    }
}

TEST(memory_that_cannot_be_had_is_said)
{
    const struct bytes jpeg = jpeg_make(200, 150, &samplings[3]);
    const struct imrec_rect r = {10, 10, 100, 100};
    struct twin_result a = {.st = IMREC_ERR_NO_MEMORY};
    for (int n = 0; a.st != IMREC_OK; n++) {
        struct codec *c;
        struct image out = {0};
        ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
        imrec_alloc_fail_after(n);
        a = twin_run(c, jpeg, &limits, TWIN_REGION, r, 3, &out);
        imrec_alloc_fail_after(-1);
        ck_assert(a.st == IMREC_OK || a.st == IMREC_ERR_NO_MEMORY);
        ck_assert_uint_eq(codec_baseline_count(c), a.st == IMREC_OK);
        codec_free(c);
        image_free(&out);
        ck_assert_int_lt(n, 20);
    }
    bytes_free(jpeg);
}

TEST(memory_is_counted_and_not_kept_after_a_huge_image)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 1, .v = 1, .quality = 100};
    const struct bytes huge = jpeg_make(2600, 1300, &l), small = jpeg_make(64, 64, &l);
    const struct imrec_rect r = {0, 0, 64, 64};
    ck_assert_uint_gt(huge.n, 4 << 20);
    ck_assert(twin_compare(&g_twin, small, &limits, TWIN_REGION, r, 1));
    const size_t before = codec_memory(g_twin.own);
    ck_assert_uint_gt(before, codec_memory(g_twin.libjpeg) - (32 << 10));
    ck_assert(twin_compare(&g_twin, huge, &limits, TWIN_REGION, r, 1));
    ck_assert_uint_ge(codec_claim(g_twin.own, 1), huge.n);
    ck_assert_uint_lt(codec_memory(g_twin.own), before + (4 << 20));
    bytes_free(huge);
    bytes_free(small);
}
