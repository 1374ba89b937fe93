/* What random erasing writes: constants, colours, noise; in every dtype and layout. */
#include "augment/erase.h"
#include "tests/support/recipes.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

enum { W = 64, H = 48, C = 3, VALUES = W * H * C };

static _Alignas(64) uint8_t slot[VALUES * 4];

static const char *const types[] = {"float32", "float16", "uint8", "int8", "bfloat16"};

static double half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31;
    const double fraction = h & 1023;
    const double size =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 != 0 ? -size : size;
}

static double value_at(enum imrec_dtype dtype, size_t i)
{
    uint32_t bits;
    float v;
    uint16_t half;
    if (dtype == IMREC_UINT8)
        return slot[i];
    if (dtype == IMREC_INT8)
        return (int8_t)slot[i];
    memcpy(&half, slot + 2 * i, 2);
    if (dtype == IMREC_FLOAT16)
        return half_value(half);
    bits = (uint32_t)half << 16;
    if (dtype == IMREC_FLOAT32)
        memcpy(&bits, slot + 4 * i, 4);
    memcpy(&v, &bits, 4);
    return (double)v;
}

static size_t place(enum imrec_layout layout, size_t c, size_t y, size_t x)
{
    return layout == IMREC_NCHW ? (c * H + y) * W + x : (y * W + x) * C + c;
}

static const struct imrec_draw draw = {
    .erase_x = 5, .erase_y = 7, .erase_width = 40, .erase_height = 30};

static bool inside(size_t y, size_t x)
{
    return x >= 5 && x < 45 && y >= 7 && y < 37;
}

/* Erases a slot of bytes 1; the value that they are is returned. */
static double erase(struct cooked *c, const char *words, uint64_t offset)
{
    cook(c, words);
    const struct normalize_job job = {.width = W,
                                      .height = H,
                                      .channels = C,
                                      .how = {.dtype = c->o.dtype, .layout = c->o.layout},
                                      .out = slot};
    memset(slot, 1, sizeof(slot));
    const double untouched = value_at(c->o.dtype, 0);
    erase_slot(&c->r, &draw, (struct sample_key){.seed = 4, .offset = offset}, &job);
    return untouched;
}

LOOP_TEST(constants_fill_the_rectangle_and_nothing_else, 0, 10) /* _i: dtype, layout */
{
    struct cooked c;
    char words[128];
    static const double want[] = {3, 0, 17};
    snprintf(words, sizeof(words), "erase_value=3,0,17 dtype=%s layout=%s", types[_i / 2],
             _i % 2 != 0 ? "NHWC" : "NCHW");
    const double untouched = erase(&c, words, 1);
    for (size_t y = 0; y < H; y++)
        for (size_t x = 0; x < W; x++)
            for (size_t k = 0; k < C; k++)
                ck_assert_double_eq(value_at(c.o.dtype, place(c.o.layout, k, y, x)),
                                    inside(y, x) ? want[k] : untouched);
}

LOOP_TEST(noise_is_normal_or_of_bytes_uniform, 0, 5) /* _i: dtype */
{
    struct cooked c;
    char words[128];
    double sum = 0, square = 0, low = 1e9, high = -1e9;
    const bool bytes = _i == IMREC_UINT8 || _i == IMREC_INT8;
    const double n = 40 * 30 * 3, mean = _i == IMREC_UINT8 ? 127.5 : _i == IMREC_INT8 ? -0.5 : 0;
    const double deviation = bytes ? 73.9 : 1;
    snprintf(words, sizeof(words), "erase_mode=pixel dtype=%s", types[_i]);
    const double untouched = erase(&c, words, 1);
    for (size_t y = 0; y < H; y++)
        for (size_t x = 0; x < W; x++)
            for (size_t k = 0; k < C; k++) {
                const double v = value_at(c.o.dtype, place(c.o.layout, k, y, x));
                if (!inside(y, x)) {
                    ck_assert_double_eq(v, untouched);
                    continue;
                }
                sum += v, square += (v - mean) * (v - mean);
                low = fmin(low, v), high = fmax(high, v);
            }
    ck_assert_double_le(fabs(sum / n - mean), 4 * deviation / sqrt(n));
    ck_assert_double_le(fabs(sqrt(square / n) / deviation - 1), 0.05);
    ck_assert(bytes ? high - low == 255 : high > 3 && low < -3);
}

/* Neighbours, channels and samples have values of their own, the same in every layout. */
TEST(noise_is_a_function_of_sample_and_place)
{
    struct cooked c;
    static float planes[VALUES];
    uint32_t equal = 0;
    erase(&c, "erase_mode=pixel", 1);
    memcpy(planes, slot, sizeof(planes));
    erase(&c, "erase_mode=pixel layout=NHWC", 1);
    for (size_t y = 7; y < 37; y++)
        for (size_t x = 5; x < 45; x++)
            for (size_t k = 0; k < C; k++) {
                const double v = value_at(IMREC_FLOAT32, place(IMREC_NHWC, k, y, x));
                ck_assert_double_eq(v, (double)planes[place(IMREC_NCHW, k, y, x)]);
                equal += v == (double)planes[place(IMREC_NCHW, (k + 1) % C, y, x)];
                equal += x > 5 && v == (double)planes[place(IMREC_NCHW, k, y, x - 1)];
            }
    ck_assert_uint_eq(equal, 0);
    erase(&c, "erase_mode=pixel", 2);
    ck_assert_mem_ne(planes, slot, sizeof(planes));
}

TEST(a_colour_is_one_for_the_rectangle_and_each_channel_has_its_own)
{
    struct cooked c;
    erase(&c, "erase_mode=color", 3);
    double first[C];
    for (size_t k = 0; k < C; k++)
        first[k] = value_at(IMREC_FLOAT32, place(IMREC_NCHW, k, 7, 5));
    ck_assert(first[0] != first[1] && first[1] != first[2]);
    for (size_t y = 7; y < 37; y++)
        for (size_t x = 5; x < 45; x++)
            for (size_t k = 0; k < C; k++)
                ck_assert_double_eq(value_at(IMREC_FLOAT32, place(IMREC_NCHW, k, y, x)), first[k]);
}

static const char *const refused[] = {
    "erase_value=1,2",    "erase_value=1,2,3,4",         "erase_value=x",
    "erase_value=1,,2",   "erase_value=256 dtype=uint8", "erase_value=-1 dtype=uint8",
    "erase_value=1 ,2,3", "erase_value=1,2,3,",
};

LOOP_TEST(values_that_do_not_fit_are_refused, 0, COUNT(refused)) /* _i into refused */
{
    struct cooked c;
    struct imrec_error err;
    char text[128], *rest = text;
    cook(&c, "erase_value=1");
    snprintf(text, sizeof(text), "%s", refused[_i]);
    for (char *w; (w = strtok_r(rest, _i == 6 ? "" : " ", &rest)) != NULL;)
        ck_assert_int_eq(cook_word(&c, w, &err), IMREC_OK);
    ck_assert_int_eq(recipe_init(&c.r, &c.o, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "erase_value must be one number from"));
}
