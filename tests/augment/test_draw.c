#include "augment/draw/draw.h"

#include "tests/support/suite.h"
#include <stdlib.h>
#include <string.h>

static struct augment_options options(void)
{
    struct augment_options o;
    param_defaults(augment_params, &o);
    o.data_shape = (struct imrec_shape){3, 24, 20};
    return o;
}

static struct imrec_draw
draw(const struct augment_options *o, struct sample_key key, uint32_t width, uint32_t height)
{
    struct recipe r;
    ck_assert_int_eq(recipe_init(&r, o, NULL), IMREC_OK);
    return augment_draw(&r, key, width, height);
}

static struct sample_key key_of(uint64_t n)
{
    return (struct sample_key){.seed = 5, .sweep = 0, .shard = n % 3, .offset = n * 1048};
}

static bool same(struct imrec_draw a, struct imrec_draw b)
{
    return a.x == b.x && a.y == b.y && a.mirror == b.mirror;
}

TEST(without_randomness_the_crop_is_in_the_centre_by_integer_division)
{
    struct augment_options o = options();
    const struct imrec_draw d = draw(&o, key_of(1), 27, 25);
    ck_assert_uint_eq(d.x, 3);
    ck_assert_uint_eq(d.y, 0);
    ck_assert_uint_eq(d.width, 27);
    ck_assert_uint_eq(d.height, 25);
    ck_assert(!d.mirror);
    o.mirror = true;
    ck_assert(draw(&o, key_of(2), 27, 25).mirror);
}

TEST(mirror_always_wins_over_rand_mirror)
{
    struct augment_options o = options();
    o.mirror = o.rand_mirror = true;
    for (uint64_t n = 0; n < 100; n++)
        ck_assert(draw(&o, key_of(n), 20, 24).mirror);
}

/* chi-square of counts that should be equal; the 99.99 % point for 9, 4 and 1 degrees of
 * freedom is 33.7, 23.5 and 15.1. The draws are fixed, so this cannot fail by chance. */
static double chi_square(const uint32_t *count, uint32_t cells, double total)
{
    double sum = 0;
    for (uint32_t i = 0; i < cells; i++) {
        const double off = count[i] - total / cells;
        sum += off * off / (total / cells);
    }
    return sum;
}

TEST(every_corner_is_equally_likely_and_each_draw_its_own)
{
    enum { N = 40000 };
    struct augment_options o = options();
    o.rand_crop = o.rand_mirror = true;
    uint32_t x[10] = {0}, y[5] = {0}, mirror[2] = {0}, both[4] = {0};
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = draw(&o, key_of(n), 20 + 9, 24 + 4);
        ck_assert_uint_lt(d.x, 10);
        ck_assert_uint_lt(d.y, 5);
        x[d.x]++, y[d.y]++, mirror[d.mirror]++;
        both[(d.x >= 5) * 2 + d.mirror]++;
    }
    ck_assert_double_lt(chi_square(x, 10, N), 33.7);
    ck_assert_double_lt(chi_square(y, 5, N), 23.5);
    ck_assert_double_lt(chi_square(mirror, 2, N), 15.1);
    ck_assert_double_lt(chi_square(both, 4, N), 21.1);
}

TEST(seed_sweep_shard_and_offset_each_change_the_draw) /* and nothing else can */
{
    enum { N = 2000 };
    struct augment_options o = options();
    o.rand_crop = o.rand_mirror = true;
    uint32_t equal[4] = {0};
    for (uint64_t n = 0; n < N; n++) {
        const struct sample_key k = key_of(n);
        const struct imrec_draw d = draw(&o, k, 120, 124);
        ck_assert(same(d, draw(&o, k, 120, 124)));
        struct sample_key other[4] = {k, k, k, k};
        other[0].seed++, other[1].sweep++, other[2].shard++, other[3].offset++;
        for (int i = 0; i < 4; i++)
            equal[i] += same(d, draw(&o, other[i], 120, 124));
    }
    for (int i = 0; i < 4; i++)
        ck_assert_uint_lt(equal[i], 3); /* 2000 / (101 * 101 * 2) are to be expected */
}

TEST(one_option_does_not_change_anothers_draw)
{
    struct augment_options o = options(), crop = options(), mirror = options();
    o.rand_crop = o.rand_mirror = crop.rand_crop = mirror.rand_mirror = true;
    for (uint64_t n = 0; n < 200; n++) {
        const struct imrec_draw d = draw(&o, key_of(n), 60, 64);
        ck_assert_uint_eq(d.x, draw(&crop, key_of(n), 60, 64).x);
        ck_assert_int_eq(d.mirror, draw(&mirror, key_of(n), 60, 64).mirror);
    }
}

TEST(draws_are_a_promise) /* a change of these numbers changes everybody's batches */
{
    static const struct {
        uint32_t x, y;
        bool mirror;
    } want[] = {{37, 69, true},  {2, 92, false},  {25, 44, false},
                {61, 54, false}, {73, 92, false}, {49, 41, true}};
    struct augment_options o = options();
    o.rand_crop = o.rand_mirror = true;
    for (uint64_t n = 0; n < sizeof(want) / sizeof(want[0]); n++) {
        const struct imrec_draw d = draw(&o, key_of(n), 120, 124);
        ck_assert(d.x == want[n].x && d.y == want[n].y && d.mirror == want[n].mirror);
    }
}
