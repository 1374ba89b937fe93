/* tests/codec/test_baseline_damage.c - damaged JPEGs: status, message, warnings and pixels are
 * the same whether our decoder looks at them first or not. */
#include "tests/support/images.h"
#include "tests/support/twin.h"

#include "tests/support/suite.h"

enum { ROUNDS = 700, MOST_BYTES = 1 << 16 };

static const struct jpeg_layout layouts[] = {
    {.colours = COLOURS_GREY, .h = 1, .v = 1, .quality = 80},
    {.colours = COLOURS_YCC, .h = 1, .v = 1, .quality = 40, .optimal = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .quality = 95},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 75},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 75, .restart_mcus = 3},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .quality = 30, .restart_rows = 1, .optimal = true},
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static uint64_t g_state = 5;
static uint8_t g_bytes[MOST_BYTES];

/* Where the entropy-coded data begin. */
static size_t find_scan(struct bytes jpeg)
{
    size_t at = 2;
    while (jpeg.p[at + 1] != 0xDA)
        at += 2 + 256u * jpeg.p[at + 2] + jpeg.p[at + 3];
    return at + 2 + jpeg.p[at + 3];
}

/* A place: half of them in the headers, which are few bytes. */
static size_t pick_place(struct bytes jpeg, size_t scan)
{
    return pick(&g_state, 2) == 0 ? pick(&g_state, (uint32_t)scan)
                                  : scan + pick(&g_state, (uint32_t)(jpeg.n - scan));
}

static struct bytes damage_once(struct bytes b, size_t scan)
{
    static const uint8_t telling[] = {0, 0xFF, 0xD0, 0xD3, 0xD9, 1, 0x11, 0x22, 0x7F};
    const size_t at = pick_place(b, scan < b.n ? scan : b.n - 1);
    switch (pick(&g_state, 6)) {
    case 0:
        g_bytes[at] = (uint8_t)pick(&g_state, 256);
        break;
    case 1:
        g_bytes[at] ^= (uint8_t)(1u << pick(&g_state, 8));
        break;
    case 2:
        g_bytes[at] = telling[pick(&g_state, sizeof(telling))];
        break;
    case 3: /* cut */
        b.n = at > 4 ? at : 4;
        break;
    case 4: /* taken out */
        memmove(g_bytes + at, g_bytes + at + 1, b.n - at - 1);
        b.n--;
        break;
    default: /* a marker in the data */
        if (at + 1 < b.n) {
            g_bytes[at] = 0xFF;
            g_bytes[at + 1] = telling[pick(&g_state, sizeof(telling))];
        }
    }
    return b;
}

static bool compare_damaged(struct twin *t, struct bytes whole, uint32_t width, uint32_t height)
{
    const size_t scan = find_scan(whole);
    struct bytes b = {g_bytes, whole.n};
    struct imrec_rect r = {.width = 1 + pick(&g_state, width),
                           .height = 1 + pick(&g_state, height)};
    memcpy(g_bytes, whole.p, whole.n);
    for (uint32_t i = pick(&g_state, 3); i < 3; i++)
        b = damage_once(b, scan);
    const struct codec_limits limits = {.max_pixels = 1 << 16,
                                        .accept_truncated = pick(&g_state, 2) == 0};
    if (pick(&g_state, 3) == 0)
        r = (struct imrec_rect){0, 0, width, height};
    r.x = pick(&g_state, width - r.width + 1);
    r.y = pick(&g_state, height - r.height + 1);
    return twin_compare(t, b, &limits, pick(&g_state, 6) == 0 ? TWIN_CHECK : TWIN_REGION, r,
                        pick(&g_state, 3) == 0 ? 1 : 3);
}

CASE(.timeout = 240)

LOOP_TEST(damage_is_told_and_mended_as_by_libjpeg_alone, 0, LAYOUTS) /* _i: layouts */
{
    const struct bytes jpeg = jpeg_make(93, 70, &layouts[_i]);
    struct twin twin;
    int own = 0;
    ck_assert_uint_lt(jpeg.n, MOST_BYTES);
    twin_begin(&twin);
    for (int i = 0; i < ROUNDS; i++)
        own += compare_damaged(&twin, jpeg, 93, 70);
    ck_assert_int_gt(own, ROUNDS / 20); /* other pixels, no fault */
    ck_assert_int_lt(own, ROUNDS / 2);
    twin_end(&twin);
    bytes_free(jpeg);
}

/* Warnings of both for n bytes that no code takes, before each marker of the data. */
static uint32_t told_of_more(struct twin *t, struct bytes jpeg, uint32_t width, size_t n)
{
    static const struct codec_limits all = {.max_pixels = 1 << 20};
    uint32_t told = 0;
    for (size_t at = find_scan(jpeg); at + 1 < jpeg.n; at++) {
        struct imrec_image_info info;
        uint32_t warnings = 0;
        if (jpeg.p[at] != 0xFF || jpeg.p[at + 1] == 0)
            continue;
        memcpy(g_bytes, jpeg.p, at);
        memset(g_bytes + at, 0x55, n);
        memcpy(g_bytes + at + n, jpeg.p + at, jpeg.n - at);
        const struct bytes longer = {g_bytes, jpeg.n + n};
        (void)twin_compare(t, longer, &all, TWIN_CHECK, (struct imrec_rect){0}, 3);
        (void)twin_compare(t, longer, &all, TWIN_REGION, (struct imrec_rect){0, 0, width, 21}, 3);
        ck_assert_int_eq(codec_begin(t->own, longer, &all, &info, NULL), IMREC_OK);
        ck_assert_int_eq(codec_check(t->own, &warnings, NULL), IMREC_OK);
        told += warnings;
    }
    return told;
}

/* Of several sizes: with some the last code ends with its byte. */
LOOP_TEST(a_byte_too_many_is_told_as_by_libjpeg_alone, 0, LAYOUTS) /* _i: layouts */
{
    struct twin twin;
    uint32_t told = 0;
    twin_begin(&twin);
    for (uint32_t width = 20; width < 60; width++) {
        const struct bytes jpeg = jpeg_make(width, 21, &layouts[_i]);
        for (size_t n = 1; n <= 2; n++)
            told += told_of_more(&twin, jpeg, width, n);
        bytes_free(jpeg);
    }
    ck_assert_uint_gt(told, 0);
    twin_end(&twin);
}

LOOP_TEST(a_cut_at_any_byte_is_told_as_by_libjpeg_alone, 0, LAYOUTS) /* _i: layouts */
{
    const struct bytes jpeg = jpeg_make(41, 37, &layouts[_i]);
    const struct imrec_rect all = {0, 0, 41, 37}, upper = {3, 0, 30, 17};
    struct twin twin;
    twin_begin(&twin);
    for (size_t n = 0; n < jpeg.n; n++) {
        const struct codec_limits limits = {.max_pixels = 1 << 16, .accept_truncated = n % 2 == 0};
        const struct bytes cut = {jpeg.p, n};
        ck_assert(!twin_compare(&twin, cut, &limits, TWIN_REGION, all, 3));
        (void)twin_compare(&twin, cut, &limits, TWIN_REGION, upper, 3);
    }
    twin_end(&twin);
    bytes_free(jpeg);
}
