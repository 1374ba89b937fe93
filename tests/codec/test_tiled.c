/* tests/codec/test_tiled.c - images with restart markers in every row of MCUs, decoded interval by
 * interval at the same time: the pixels of libjpeg-turbo for every region, and its judgement of
 * damage. On every processor, which otherwise would decode them MCU by MCU. */
#include "base/alloc.h"
#include "codec/jpeg/tiled.h"
#include "tests/support/images.h"
#include "tests/support/regions.h"
#include "tests/support/twin.h"

#include "tests/support/suite.h"

enum { ROUNDS = 150, REGIONS = 6, DAMAGES = 10 };

static const struct codec_limits limits = {.max_pixels = 1 << 24};
static uint64_t g_state;

static struct jpeg_layout any_layout(uint32_t *width)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}};
    const int *s = samplings[pick(&g_state, 3)];
    struct jpeg_layout l = {.colours = COLOURS_YCC,
                            .h = s[0],
                            .v = s[1],
                            .quality = 10 + (int)pick(&g_state, 91),
                            .optimal = pick(&g_state, 2) != 0};
    if (pick(&g_state, 5) == 0)
        l = (struct jpeg_layout){.colours = COLOURS_GREY, .h = 1, .v = 1, .quality = l.quality};
    const uint32_t mcu = 8 * (uint32_t)l.h, part = 1 + pick(&g_state, 6);
    if (pick(&g_state, 2) == 0) {
        l.restart_rows = 1;
    } else { /* intervals that divide a row */
        l.restart_mcus = (int)part;
        *width = mcu * part * (1 + pick(&g_state, 400 / (mcu * part) + 1)) - pick(&g_state, mcu);
    }
    return l;
}

static void begin(struct twin *t)
{
    tiled_use_always(true);
    twin_begin(t);
    g_state = 11;
}

CASE(.timeout = 120)

TEST(regions_have_the_pixels_of_libjpeg)
{
    struct twin twin;
    uint32_t own = 0;
    begin(&twin);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t width = 5 + pick(&g_state, 400);
        const uint32_t height = 1 + pick(&g_state, 400);
        const struct jpeg_layout l = any_layout(&width);
        const struct bytes jpeg = jpeg_make(width, height, &l);
        for (uint32_t i = 0; i < REGIONS; i++)
            own += twin_compare(&twin, jpeg, &limits, TWIN_ROWS,
                                any_region(&g_state, width, height, 4),
                                pick(&g_state, 3) == 0 ? 1 : 3);
        bytes_free(jpeg);
    }
    ck_assert_uint_eq(own, ROUNDS * REGIONS);
    twin_end(&twin);
}

/* Larger than a band of coefficients. */
TEST(large_images_come_in_bands)
{
    const struct jpeg_layout l = {
        .colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1, .quality = 60};
    const struct bytes jpeg = jpeg_make(1500, 1100, &l);
    struct twin twin;
    begin(&twin);
    for (uint32_t i = 0; i < REGIONS; i++)
        ck_assert(
            twin_compare(&twin, jpeg, &limits, TWIN_ROWS, any_region(&g_state, 1500, 1100, 4), 3));
    bytes_free(jpeg);
    twin_end(&twin);
}

TEST(memory_is_counted_and_given_back)
{
    enum { BAND = 1 << 20 };
    const struct jpeg_layout l = {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1};
    const struct bytes jpeg = jpeg_make(300, 400, &l);
    const long before = imrec_alloc_live();
    struct twin twin;
    begin(&twin);
    const size_t at_first = codec_memory(twin.own);
    ck_assert(
        twin_compare(&twin, jpeg, &limits, TWIN_ROWS, (struct imrec_rect){0, 0, 300, 400}, 3));
    ck_assert_uint_ge(codec_memory(twin.own), at_first + BAND);
    codec_trim(twin.own, 0);
    ck_assert_uint_lt(codec_memory(twin.own), at_first + BAND);
    ck_assert(
        twin_compare(&twin, jpeg, &limits, TWIN_ROWS, (struct imrec_rect){0, 0, 300, 400}, 3));
    twin_end(&twin);
    ck_assert_int_eq(imrec_alloc_live(), before);
    bytes_free(jpeg);
}

TEST(damage_is_judged_by_libjpeg)
{
    struct twin twin;
    begin(&twin);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t width = 20 + pick(&g_state, 100);
        const uint32_t height = 20 + pick(&g_state, 100);
        const struct jpeg_layout l = any_layout(&width);
        const struct bytes jpeg = jpeg_make(width, height, &l);
        for (uint32_t i = 0; i < DAMAGES; i++) {
            uint8_t *p = (uint8_t *)jpeg.p + jpeg.n / 2 + pick(&g_state, (uint32_t)jpeg.n / 2);
            const uint8_t was = *p;
            *p = (uint8_t)pick(&g_state, 256);
            (void)twin_compare(&twin, jpeg, &limits, TWIN_ROWS,
                               any_region(&g_state, width, height, 4), 3);
            *p = was;
        }
        /* what was left of the damaged one is not in the next */
        (void)twin_compare(&twin, jpeg, &limits, TWIN_ROWS, any_region(&g_state, width, height, 4),
                           3);
        bytes_free(jpeg);
    }
    twin_end(&twin);
}
