#include "augment/geometry/orient.h"

#include "tests/support/suite.h"
#include <stdlib.h>
#include <string.h>

enum { W = 70, H = 45 };

/* The stored image of which `upright` is what a viewer shows, by the words of the standard:
 * where row 0 and column 0 of the stored image are seen. */
static void stored_place(int o, uint32_t width, uint32_t height, uint32_t X, uint32_t Y,
                         uint32_t *x, uint32_t *y)
{
    static const char row0[] = "TTBBLRRL", column0[] = "LRRLTTBB"; /* top bottom left right */
    const char r = row0[o - 1], c = column0[o - 1];
    *y = r == 'T' ? Y : r == 'B' ? height - 1 - Y : r == 'L' ? X : height - 1 - X;
    *x = c == 'L' ? X : c == 'R' ? width - 1 - X : c == 'T' ? Y : width - 1 - Y;
}

static uint8_t px(uint32_t x, uint32_t y, uint32_t c)
{
    return (uint8_t)(x * 7 + y * 31 + c * 101 + (x * y) % 13);
}

LOOP_TEST(every_orientation_comes_out_upright, 0, 24) /* _i: orientation - 1, and channels */
{
    static const uint32_t counts[] = {1, 3, 4};
    const int o = _i / 3 + 1;
    const uint32_t channels = counts[_i % 3], stride = W * 4 + 5;
    static uint8_t memory[H * (W * 4 + 5)];
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++)
            for (uint32_t c = 0; c < channels; c++)
                memory[y * stride + x * channels + c] = px(x, y, c);
    const struct imrec_image from = {memory, stride, W, H, channels};
    struct image to = {0};
    ck_assert_int_eq(orient_image((uint32_t)o, &from, &to, NULL), IMREC_OK);
    ck_assert_uint_eq(to.view.width, o > 4 ? H : W);
    ck_assert_uint_eq(to.view.height, o > 4 ? W : H);
    ck_assert_int_eq(orient_swaps((uint32_t)o), o > 4);
    for (uint32_t Y = 0; Y < to.view.height; Y++)
        for (uint32_t X = 0; X < to.view.width; X++)
            for (uint32_t c = 0; c < channels; c++) {
                uint32_t x, y;
                stored_place(o, W, H, X, Y, &x, &y);
                ck_assert_uint_eq(to.view.pixels[Y * to.view.stride + X * channels + c],
                                  px(x, y, c));
            }
    image_free(&to);
}

LOOP_TEST(a_region_turned_is_the_region_of_the_turned_image, 1, 9)
{
    const uint32_t o = (uint32_t)_i;
    const struct imrec_rect upright = {3, 11, 20, 8};
    const struct imrec_rect r = orient_region(o, W, H, upright);
    ck_assert_uint_eq(r.width, o > 4 ? 8 : 20);
    ck_assert_uint_eq(r.height, o > 4 ? 20 : 8);
    for (uint32_t Y = 0; Y < upright.height; Y++)
        for (uint32_t X = 0; X < upright.width; X++) {
            uint32_t x, y, in_x, in_y;
            stored_place((int)o, W, H, upright.x + X, upright.y + Y, &x, &y);
            stored_place((int)o, r.width, r.height, X, Y, &in_x, &in_y);
            ck_assert_uint_eq(x, r.x + in_x);
            ck_assert_uint_eq(y, r.y + in_y);
        }
}

TEST(an_orientation_that_does_not_exist_is_refused)
{
    uint8_t one = 0;
    const struct imrec_image from = {&one, 1, 1, 1, 1};
    struct image to = {0};
    ck_assert_int_eq(orient_image(0, &from, &to, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(orient_image(9, &from, &to, NULL), IMREC_ERR_ARGUMENT);
}
