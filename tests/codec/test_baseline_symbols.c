/* tests/codec/test_baseline_symbols.c - symbols in combinations that no encoder writes: runs of
 * zeros before the end of a block, values of every size, overflowing transforms. */
#include "tests/support/images.h"
#include "tests/support/twin.h"

#include <check.h>

enum { BLOCKS = 24, ROUNDS = 3000, MOST_BYTES = 1 << 16 };

struct code {
    uint32_t code, length;
};

/* Of the tables of the standard for luma (ITU-T T.81, annex K): DC differences by size; AC values
 * by size behind no zeros; behind 15; 16 zeros; the end. */
static const struct code dc[] = {{0, 2},   {2, 3},    {3, 3},    {4, 3},    {5, 3},    {6, 3},
                                 {0xE, 4}, {0x1E, 5}, {0x3E, 6}, {0x7E, 7}, {0xFE, 8}, {0x1FE, 9}};
static const struct code ac[] = {{0xA, 4},    {0, 2},       {1, 2},      {4, 3},
                                 {0xB, 4},    {0x1A, 5},    {0x78, 7},   {0xF8, 8},
                                 {0x3F6, 10}, {0xFF82, 16}, {0xFF83, 16}};
static const struct code far_one = {0xFFF5, 16}, zeros = {0x7F9, 11};

static uint8_t g_bytes[MOST_BYTES];
static size_t g_at;
static uint32_t g_bits, g_count;
static uint64_t g_state = 9;

static void put(uint32_t bits, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) {
        g_bits = g_bits << 1 | (bits >> i & 1);
        if (++g_count % 8 != 0)
            continue;
        g_bytes[g_at++] = (uint8_t)g_bits;
        if ((g_bits & 255) == 255)
            g_bytes[g_at++] = 0;
    }
}

static void put_code(struct code c)
{
    put(c.code, c.length);
}

/* A value of this size; large ones where `large`. */
static void put_value(uint32_t size, bool large)
{
    put(large ? (pick(&g_state, 2) == 0 ? 0 : (1u << size) - 1) : pick(&g_state, 1u << size), size);
}

static void put_ac(uint32_t most)
{
    uint32_t k = 1;
    for (uint32_t n = pick(&g_state, 12); n > 0 && k + 16 < 64; n--) {
        const uint32_t kind = pick(&g_state, 8), size = 1 + pick(&g_state, most);
        put_code(kind == 0 ? zeros : kind == 1 ? far_one : ac[size]);
        if (kind != 0)
            put_value(kind == 1 ? 1 : size, kind == 2);
        k += kind < 2 ? 16 : 1;
    }
    if (pick(&g_state, 4) != 0 || k == 1) {
        put_code(ac[0]);
        return;
    }
    for (; k + 16 <= 64; k += 16)
        put_code(zeros);
    for (; k < 64; k++) {
        put_code(ac[1]);
        put_value(1, false);
    }
}

static struct bytes make(struct bytes whole, uint32_t most)
{
    size_t at = 2;
    while (whole.p[at + 1] != 0xDA)
        at += 2 + 256u * whole.p[at + 2] + whole.p[at + 3];
    g_at = at + 2 + whole.p[at + 3];
    memcpy(g_bytes, whole.p, g_at);
    g_count = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint32_t size = pick(&g_state, most + 2 < 12 ? most + 2 : 12);
        put_code(dc[size]);
        put_value(size, pick(&g_state, 4) == 0);
        put_ac(most);
    }
    put(255, (8 - g_count % 8) % 8);
    memcpy(g_bytes + g_at, "\xFF\xD9", 2);
    return (struct bytes){g_bytes, g_at + 2};
}

START_TEST(unusual_symbols_make_the_pixels_that_libjpeg_makes) /* loop over qualities */
{
    const struct jpeg_layout l = {
        .colours = COLOURS_GREY, .h = 1, .v = 1, .quality = _i == 0 ? 1 : 10 * _i};
    const struct bytes whole = jpeg_make(8 * BLOCKS, 8, &l);
    const struct codec_limits limits = {.max_pixels = 1 << 16};
    const struct imrec_rect all = {0, 0, 8 * BLOCKS, 8}, part = {61, 2, 40, 5};
    struct twin twin;
    int own = 0;
    twin_begin(&twin);
    for (int i = 0; i < ROUNDS; i++) {
        const struct bytes jpeg = make(whole, 1 + (uint32_t)i % 10);
        own += twin_compare(&twin, jpeg, &limits, TWIN_REGION, all, 1);
        (void)twin_compare(&twin, jpeg, &limits, TWIN_REGION, part, 3);
    }
    ck_assert_int_eq(own, ROUNDS);
    twin_end(&twin);
    bytes_free(whole);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("baseline_symbols");
    TCase *tc = tcase_create("symbols");
    tcase_set_timeout(tc, 240);
    tcase_add_loop_test(tc, unusual_symbols_make_the_pixels_that_libjpeg_makes, 0, 11);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
