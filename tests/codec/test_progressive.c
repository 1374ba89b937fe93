/* tests/codec/test_progressive.c - progressive images: scans in every order that the standard has,
 * regions, damage, scans that are missing. */
#include "base/alloc.h"
#include "tests/support/images.h"
#include "tests/support/regions.h"
#include "tests/support/twin.h"

#include "tests/support/suite.h"

enum { ROUNDS = 250, REGIONS = 4, DAMAGES = 12 };

static const struct codec_limits limits = {.max_pixels = 1 << 24};
static uint64_t g_state;

static struct jpeg_layout any_layout(void)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}};
    const int *s = samplings[pick(&g_state, 3)];
    struct jpeg_layout l = {.colours = COLOURS_YCC,
                            .h = s[0],
                            .v = s[1],
                            .quality = 10 + (int)pick(&g_state, 91),
                            .script = 1 + pick(&g_state, 1 << 20)};
    if (pick(&g_state, 5) == 0) {
        l.colours = COLOURS_GREY;
        l.h = l.v = 1;
    }
    if (pick(&g_state, 3) == 0)
        l.restart_mcus = 1 + (int)pick(&g_state, 40);
    return l;
}

CASE(.timeout = 120)

TEST(any_scans_give_the_pixels_of_libjpeg)
{
    struct twin twin;
    uint32_t own = 0;
    twin_begin(&twin);
    g_state = 21;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t width = 1 + pick(&g_state, 150), height = 1 + pick(&g_state, 150);
        const struct jpeg_layout l = any_layout();
        const struct bytes jpeg = jpeg_make(width, height, &l);
        for (uint32_t i = 0; i < REGIONS; i++)
            own += twin_compare(&twin, jpeg, &limits, i == 0 ? TWIN_CHECK : TWIN_ROWS,
                                any_region(&g_state, width, height, 4),
                                pick(&g_state, 3) == 0 ? 1 : 3);
        bytes_free(jpeg);
    }
    ck_assert_uint_eq(own, ROUNDS * REGIONS);
    twin_end(&twin);
}

/* What no scan has libjpeg makes up by smoothing. */
TEST(images_that_lack_a_scan_are_left_to_libjpeg)
{
    struct twin twin;
    twin_begin(&twin);
    g_state = 22;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct jpeg_layout l = any_layout();
        l.incomplete = true;
        const struct bytes jpeg = jpeg_make(70, 60, &l);
        ck_assert(
            !twin_compare(&twin, jpeg, &limits, TWIN_ROWS, any_region(&g_state, 70, 60, 4), 3));
        bytes_free(jpeg);
    }
    twin_end(&twin);
}

TEST(damage_is_judged_by_libjpeg)
{
    struct twin twin;
    twin_begin(&twin);
    g_state = 23;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t width = 10 + pick(&g_state, 80), height = 10 + pick(&g_state, 80);
        const struct jpeg_layout l = any_layout();
        const struct bytes jpeg = jpeg_make(width, height, &l);
        for (uint32_t i = 0; i < DAMAGES; i++) {
            uint8_t *p = (uint8_t *)jpeg.p + 150 + pick(&g_state, (uint32_t)jpeg.n - 150);
            const uint8_t was = *p;
            const size_t n = i % 4 == 0 ? (size_t)(p - jpeg.p) : jpeg.n;
            *p = (uint8_t)pick(&g_state, 256);
            (void)twin_compare(&twin, (struct bytes){jpeg.p, n}, &limits,
                               i % 2 == 0 ? TWIN_ROWS : TWIN_CHECK,
                               any_region(&g_state, width, height, 4), 3);
            *p = was;
        }
        bytes_free(jpeg);
    }
    twin_end(&twin);
}

/* Of a region at the top each scan is read down to it, and what comes later is not judged. */
TEST(damage_below_a_region_is_passed)
{
    const struct jpeg_layout l = {
        .colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 90, .script = 5};
    const struct imrec_rect top = {3, 2, 90, 20};
    const struct bytes jpeg = jpeg_make(100, 200, &l);
    struct twin twin;
    uint32_t passed = 0;
    twin_begin(&twin);
    g_state = 24;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint8_t *p = (uint8_t *)jpeg.p + 150 + pick(&g_state, (uint32_t)jpeg.n - 150);
        const uint8_t was = *p;
        *p = (uint8_t)pick(&g_state, 255); /* no marker */
        const bool own = twin_compare(&twin, jpeg, &limits, TWIN_ROWS, top, 3);
        passed +=
            own &&
            twin_run(twin.libjpeg, jpeg, &limits, TWIN_CHECK, top, 3, &twin.truth).warnings > 0;
        *p = was;
    }
    ck_assert_uint_gt(passed, 10);
    twin_end(&twin);
    bytes_free(jpeg);
}

enum { TABLE_BYTES = 2 + 2 + 17 + 255 };

/* Before the scan whose marker is at `scan`: that table of its which it decodes with, of 255 codes
 * of one bit. The caller frees the image. */
static struct bytes with_impossible_table(struct bytes jpeg, size_t scan)
{
    const uint8_t *header = jpeg.p + scan + 4;
    const bool is_ac = header[1 + 2 * header[0]] > 0;
    const uint8_t table = is_ac ? 0x10 | (header[2] & 15) : header[2] >> 4;
    uint8_t *out = calloc(jpeg.n + TABLE_BYTES, 1);
    ck_assert_ptr_nonnull(out);
    memcpy(out, jpeg.p, scan);
    memcpy(out + scan,
           (uint8_t[]){0xFF, 0xC4, (TABLE_BYTES - 2) >> 8, (TABLE_BYTES - 2) & 255, table, 255}, 6);
    memcpy(out + scan + TABLE_BYTES, jpeg.p + scan, jpeg.n - scan);
    return (struct bytes){out, jpeg.n + TABLE_BYTES};
}

TEST(a_table_that_is_no_code_is_left_to_libjpeg)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .script = 9};
    const struct bytes jpeg = jpeg_make(40, 30, &l);
    struct twin twin;
    uint32_t own = 0, tried = 0;
    twin_begin(&twin);
    for (size_t at = 2; at + 12 < jpeg.n; at++) {
        if (jpeg.p[at] != 0xFF || jpeg.p[at + 1] != 0xDA)
            continue;
        const struct bytes bad = with_impossible_table(jpeg, at);
        own += twin_compare(&twin, bad, &limits, TWIN_ROWS, any_region(&g_state, 40, 30, 4), 3);
        free((void *)(uintptr_t)bad.p);
        tried++;
    }
    ck_assert_uint_gt(tried, 6);
    ck_assert_uint_lt(own, tried / 2); /* refining scans of DC read no table */
    twin_end(&twin);
    bytes_free(jpeg);
}

TEST(memory_that_cannot_be_had_is_said)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .script = 5};
    const struct bytes jpeg = jpeg_make(90, 70, &l);
    struct twin_result a = {.st = IMREC_ERR_NO_MEMORY};
    int refused = 0;
    for (; a.st != IMREC_OK; refused++) {
        struct codec *c;
        struct image out = {0};
        ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
        imrec_alloc_fail_after(refused);
        a = twin_run(c, jpeg, &limits, TWIN_REGION, (struct imrec_rect){9, 9, 60, 50}, 3, &out);
        imrec_alloc_fail_after(-1);
        ck_assert(a.st == IMREC_OK || a.st == IMREC_ERR_NO_MEMORY);
        ck_assert_uint_eq(codec_baseline_count(c), a.st == IMREC_OK);
        codec_free(c);
        image_free(&out);
        ck_assert_int_lt(refused, 20);
    }
    ck_assert_int_gt(refused, 5);
    bytes_free(jpeg);
}

TEST(coefficients_are_claimed_and_not_kept_after_a_huge_image)
{
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 1, .v = 1, .script = 5};
    const struct bytes huge = jpeg_make(2000, 1300, &l), small = jpeg_make(64, 64, &l);
    const struct imrec_rect r = {0, 0, 64, 64};
    struct twin twin;
    twin_begin(&twin);
    ck_assert(twin_compare(&twin, small, &limits, TWIN_REGION, r, 3));
    const size_t before = codec_memory(twin.own);
    ck_assert(twin_compare(&twin, huge, &limits, TWIN_REGION, r, 3));
    ck_assert_uint_ge(codec_claim(twin.own, 1), 6u * 2000 * 1300);
    ck_assert_uint_lt(codec_memory(twin.own), before + (4 << 20));
    twin_end(&twin);
    bytes_free(huge);
    bytes_free(small);
}
