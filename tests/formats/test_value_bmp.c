/* tests/formats/test_value_bmp.c - planes of values as a bitmap, field by field as its format says.
 */
#include "formats/cbf/value_bmp.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

enum { ROOM = 4096, MOST = 3 * 9 * 9 };

static const struct {
    uint32_t values, side, channels;
} sides[] = {
    {1, 1, 1},
    {3, 1, 3},
    {4, 2, 1},
    {12, 2, 3},
    {27, 3, 3},
    {9, 3, 1},
    {2, 0, 1},
    {5, 0, 1},
    {0, 0, 1},
    {6, 0, 1},
    {36, 6, 1},
    {108, 6, 3},
    {3072, 32, 3},
    {784, 28, 1},
    {805306368, 16384, 3},
    {268435456, 16384, 1},
    {268468225, 0, 1}, /* 16385 x 16385 */
    {UINT32_MAX, 0, 1},
};

LOOP_TEST(square_images_of_three_channels_or_one_have_a_side, 0, COUNT(sides))
{
    uint32_t channels;
    ck_assert_uint_eq(value_bmp_side(sides[_i].values, &channels), sides[_i].side);
    ck_assert_uint_eq(channels, sides[_i].channels);
}

/* Of plane c, row y, column x: all different in a small image. */
static uint8_t value_at(uint32_t side, uint32_t c, uint32_t y, uint32_t x)
{
    return (uint8_t)(255 - ((c * side + y) * side + x));
}

static struct guarded planes_of(uint32_t side, uint32_t channels, bool is_double)
{
    static float floats[MOST];
    static double doubles[MOST];
    uint32_t n = 0;
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t y = 0; y < side; y++)
            for (uint32_t x = 0; x < side; x++, n++)
                doubles[n] = floats[n] = value_at(side, c, y, x);
    return is_double ? guarded_copy(doubles, n * sizeof(double))
                     : guarded_copy(floats, n * sizeof(float));
}

static void expect_head(const uint8_t *p, size_t n, uint32_t side, uint32_t channels, size_t head)
{
    ck_assert_mem_eq(p, "BM", 2);
    ck_assert_uint_eq(load_le32(p + 2), n);
    ck_assert_uint_eq(load_le32(p + 6), 0);
    ck_assert_uint_eq(load_le32(p + 10), head);
    ck_assert_uint_eq(load_le32(p + 14), 40);
    ck_assert(load_le32(p + 18) == side && load_le32(p + 22) == side);
    ck_assert_uint_eq(load_le32(p + 26), 1 | 8 * channels << 16); /* planes, bits of a pixel */
    for (size_t at = 30; at < 54; at += 4)                        /* as they are, and no more */
        ck_assert_uint_eq(load_le32(p + at), 0);
    for (uint32_t i = 0; channels == 1 && i < 256; i++)
        ck_assert_uint_eq(load_le32(p + 54 + 4 * (size_t)i), i * 0x10101);
}

LOOP_TEST(rows_are_written_from_the_bottom_blue_first, 0, 36) /* _i: side, channels, type */
{
    const uint32_t side = 1 + (uint32_t)_i / 4, channels = _i % 2 == 0 ? 1 : 3;
    const bool is_double = _i / 2 % 2 == 1;
    const size_t head = channels == 1 ? 54 + 1024 : 54, row = (side * channels + 3) / 4 * 4;
    static const uint8_t zeros[4];
    uint8_t file[ROOM];
    const size_t n = value_bmp_bytes(side, channels);
    ck_assert_uint_eq(n, head + row * side);
    memset(file, 0xaa, sizeof(file));
    struct guarded g = planes_of(side, channels, is_double);
    ck_assert(value_bmp_write(g.p, is_double, side, channels, file));
    guarded_free(g);
    expect_head(file, n, side, channels, head);
    for (uint32_t y = 0; y < side; y++) {
        const uint8_t *p = file + head + row * (side - 1 - y);
        for (uint32_t x = 0; x < side; x++)
            for (uint32_t c = 0; c < channels; c++)
                ck_assert_uint_eq(p[x * channels + channels - 1 - c], value_at(side, c, y, x));
        ck_assert_mem_eq(p + side * channels, zeros, row - side * channels);
    }
    ck_assert_uint_eq(file[n], 0xaa);
}

TEST(values_that_no_byte_has_are_no_pixels)
{
    static const double values[] = {-1, 256, 0.5, 254.999, __builtin_nan(""), -0.001};
    for (int i = 0; i < COUNT(values); i++) {
        uint8_t file[ROOM];
        double planes[4] = {0, 255, 128, 1};
        ck_assert(value_bmp_write((const uint8_t *)planes, true, 2, 1, file));
        planes[i % 4] = values[i];
        ck_assert(!value_bmp_write((const uint8_t *)planes, true, 2, 1, file));
    }
}
