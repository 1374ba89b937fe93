/* Operations drawn: AutoAugment's pairs, AugMix's chains and shares, timm's RandAugment. The draws
 * are fixed, so none of this can fail by chance. */
#include "augment/draw/draw_ops.h"
#include "tests/support/recipes.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

enum { N = 20000 };

static struct sample_key key_of(uint64_t n)
{
    return (struct sample_key){.seed = 9, .sweep = n % 7, .shard = n % 3, .offset = n * 1048};
}

static double chi_square(const uint32_t *count, uint32_t cells)
{
    double sum = 0, total = 0;
    for (uint32_t i = 0; i < cells; i++)
        total += count[i];
    for (uint32_t i = 0; i < cells; i++)
        sum += pow(count[i] - total / cells, 2) / (total / cells);
    return sum;
}

/* Share of samples within four deviations. */
static void must_be_often(const char *what, double count, double share)
{
    ck_assert_msg(fabs(count - share * N) <= 4 * sqrt(share * (1 - share) * N) + 1,
                  "%s: %g of %d, not %g", what, count, N, share * N);
}

/* ---- AutoAugment -------------------------------------------------------------------------------
 */

/* Expected number of each operation in 25 samples: the sum of its probabilities in the paper's
 * tables. */
static const struct {
    const char *name;
    double often[IMREC_ALL_OPS];
} tables[] = {
    {"imagenet",
     {[IMREC_OP_SHEAR_X] = 0.6,
      [IMREC_OP_ROTATE] = 3.6,
      [IMREC_OP_COLOR] = 3.8,
      [IMREC_OP_CONTRAST] = 2,
      [IMREC_OP_SHARPNESS] = 0.4,
      [IMREC_OP_POSTERIZE] = 2.8,
      [IMREC_OP_SOLARIZE] = 3.6,
      [IMREC_OP_AUTOCONTRAST] = 1.2,
      [IMREC_OP_EQUALIZE] = 11.4,
      [IMREC_OP_INVERT] = 1.8}},
    {"cifar10",
     {[IMREC_OP_SHEAR_Y] = 0.7,
      [IMREC_OP_TRANSLATE_X] = 0.8,
      [IMREC_OP_TRANSLATE_Y] = 3.4,
      [IMREC_OP_ROTATE] = 0.7,
      [IMREC_OP_BRIGHTNESS] = 2.3,
      [IMREC_OP_COLOR] = 2.9,
      [IMREC_OP_CONTRAST] = 0.8,
      [IMREC_OP_SHARPNESS] = 2.8,
      [IMREC_OP_POSTERIZE] = 0.3,
      [IMREC_OP_SOLARIZE] = 1.9,
      [IMREC_OP_AUTOCONTRAST] = 5,
      [IMREC_OP_EQUALIZE] = 4.5,
      [IMREC_OP_INVERT] = 0.2}},
    {"svhn",
     {[IMREC_OP_SHEAR_X] = 4.2,
      [IMREC_OP_SHEAR_Y] = 6.2,
      [IMREC_OP_TRANSLATE_X] = 0.9,
      [IMREC_OP_TRANSLATE_Y] = 2,
      [IMREC_OP_ROTATE] = 3.4,
      [IMREC_OP_CONTRAST] = 0.3,
      [IMREC_OP_SOLARIZE] = 2.2,
      [IMREC_OP_AUTOCONTRAST] = 2.3,
      [IMREC_OP_EQUALIZE] = 3.9,
      [IMREC_OP_INVERT] = 7.3}},
};

LOOP_TEST(policies_have_the_papers_operations_as_often, 0, COUNT(tables)) /* _i into tables */
{
    struct cooked c;
    char words[64];
    uint32_t count[IMREC_ALL_OPS] = {0};
    snprintf(words, sizeof(words), "auto_augment=%s", tables[_i].name);
    cook(&c, words);
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 70, 60);
        ck_assert_uint_le(d.op_count, 2);
        for (uint32_t i = 0; i < d.op_count; i++)
            count[d.op[i]]++;
    }
    for (int op = 0; op < IMREC_ALL_OPS; op++) /* of two a sample the deviation is larger */
        ck_assert_msg(fabs(count[op] - tables[_i].often[op] / 25 * N) <=
                          6 * sqrt(tables[_i].often[op] / 25 * N),
                      "%s: operation %d %u times, not %g", tables[_i].name, op, count[op],
                      tables[_i].often[op] / 25 * N);
}

/* Bins 0 to 9 of ten; of the paper's pairs those with a shear of 5, rotations of 9, 8 and 3 ... */
TEST(policies_have_torchvisions_strengths)
{
    struct cooked c;
    uint32_t left = 0, turned = 0;
    cook(&c, "auto_augment=imagenet");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 70, 60);
        for (uint32_t i = 0; i < d.op_count; i++) {
            const float m = d.op_magnitude[i], size = fabsf(m), tenth = size / 30 * 9;
            if (d.op[i] == IMREC_OP_ROTATE) {
                ck_assert(fabsf(tenth - 9) < 1e-4f || fabsf(tenth - 8) < 1e-4f ||
                          fabsf(tenth - 3) < 1e-4f);
                turned++, left += m > 0;
            } else if (d.op[i] == IMREC_OP_SHEAR_X) {
                ck_assert_float_eq_tol(size, 0.3f * 5 / 9, 1e-6f);
            } else if (d.op[i] == IMREC_OP_POSTERIZE) { /* 8, 7, 6, 5 of bins 0..9 */
                ck_assert(m == 4 || m == 5 || m == 6);
            } else if (d.op[i] == IMREC_OP_CONTRAST) {
                ck_assert_float_eq_tol(fabsf(m - 1), 0.8f, 1e-6f);
            } else if (d.op[i] == IMREC_OP_SOLARIZE) {
                const float bin = 9 - m / 255 * 9;
                ck_assert(fabsf(bin - roundf(bin)) < 1e-4f && bin > 2.9f && bin < 8.1f);
            }
        }
    }
    ck_assert_double_le(fabs(left - turned / 2.0), 4 * sqrt(turned / 4.0));
}

/* The two operations of a pair have signs of their own. */
TEST(signs_of_a_pair_are_independent)
{
    struct cooked c;
    uint32_t count[4] = {0};
    cook(&c, "auto_augment=svhn data_shape=3,331,331");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 400, 400);
        if (d.op_count == 2 && d.op[0] == IMREC_OP_SHEAR_X && d.op[1] == IMREC_OP_TRANSLATE_Y)
            count[(d.op_magnitude[0] < 0) * 2 + (d.op_magnitude[1] < 0)]++;
    }
    ck_assert_double_lt(chi_square(count, 4), 21);
    ck_assert_uint_gt(count[0], 50);
}

/* ---- AugMix ------------------------------------------------------------------------------------
 */

TEST(shares_of_an_augmix_are_uniform_and_add_up)
{
    struct cooked c;
    uint32_t whole[10] = {0}, chain[10] = {0}, depth[4] = {0};
    cook(&c, "augmix=1");
    for (uint64_t n = 0; n < N; n++) {
        const struct augmix m = draw_augmix(&c.r, key_of(n));
        double sum = (double)m.share;
        ck_assert_uint_eq(m.width, 3);
        for (uint32_t i = 0; i < 3; i++) {
            sum += (double)m.chains[i].share;
            ck_assert(m.chains[i].depth >= 1 && m.chains[i].depth <= 3);
            depth[m.chains[i].depth]++;
        }
        ck_assert_double_le(fabs(sum - 1), 1e-6);
        whole[(int)((double)m.share * 10)]++;
        /* One of three shares from Dirichlet(1, 1, 1): (1 - share)^2 is uniform. */
        const double first = (double)m.chains[0].share / (1 - (double)m.share);
        const double at = pow(1 - first, 2) * 10;
        chain[at < 0 ? 0 : at < 10 ? (int)at : 9]++;
    }
    ck_assert_double_lt(chi_square(whole, 10), 33.7);
    ck_assert_double_lt(chi_square(chain, 10), 33.7);
    ck_assert_double_lt(chi_square(depth + 1, 3), 18.5);
}

static const float alphas[] = {0.05f, 0.5f, 1, 3};

/* Beta(a, a): mean 1/2, variance 1 / (8 a + 4); a chain of four: mean 1/4, 3 / (16 (4 a + 1)). */
LOOP_TEST(shares_spread_by_alpha, 0, COUNT(alphas)) /* _i into alphas */
{
    struct cooked c;
    char words[64];
    const double alpha = (double)alphas[_i];
    double square = 0, chain = 0, chain_sum = 0;
    uint32_t chains = 0;
    snprintf(words, sizeof(words), "augmix=1 augmix_width=4 augmix_alpha=%g", alpha);
    cook(&c, words);
    for (uint64_t n = 0; n < N; n++) {
        const struct augmix m = draw_augmix(&c.r, key_of(n));
        square += pow((double)m.share - 0.5, 2);
        if ((double)m.share > 1 - 1e-3)
            continue; /* nothing to divide by */
        const double share = (double)m.chains[3].share / (1 - (double)m.share);
        chain_sum += share, chain += pow(share - 0.25, 2), chains++;
    }
    ck_assert_double_le(fabs(square / N * (8 * alpha + 4) - 1), 0.06);
    ck_assert_double_le(fabs(chain_sum / chains - 0.25), 0.015);
    ck_assert_double_le(fabs(chain / chains * 16 * (4 * alpha + 1) / 3 - 1), 0.07);
}

LOOP_TEST(chains_have_the_operations_and_strengths_asked_for, 0, 2) /* _i: all_ops */
{
    struct cooked c;
    char words[128];
    uint32_t count[IMREC_ALL_OPS] = {0}, bins[4] = {0};
    static const uint8_t all[] = {1, 2, 3, 4, 5, 10, 11, 12, 13, 6, 7, 8, 9};
    const uint32_t ops = _i != 0 ? 13 : 9;
    uint32_t kept[13];
    snprintf(words, sizeof(words), "augmix=1 augmix_depth=4 augmix_severity=4 augmix_all_ops=%d",
             _i);
    cook(&c, words);
    for (uint64_t n = 0; n < N / 4; n++) {
        const struct augmix m = draw_augmix(&c.r, key_of(n));
        for (uint32_t i = 0; i < 4; i++) {
            ck_assert_uint_eq(m.chains[0].depth, 4);
            count[m.chains[0].op[i]]++;
            if (m.chains[0].op[i] != IMREC_OP_ROTATE)
                continue;
            const float bin = fabsf(m.chains[0].magnitude[i]) / 30 * 9;
            ck_assert(fabsf(bin - roundf(bin)) < 1e-4f && bin < 3.5f);
            bins[(int)roundf(bin)]++;
        }
    }
    for (uint32_t i = 0; i < ops; i++)
        kept[i] = count[all[i]];
    ck_assert_double_lt(chi_square(kept, ops), 40);
    ck_assert_double_lt(chi_square(bins, 4), 21);
    for (uint32_t i = ops; i < 13; i++)
        ck_assert_uint_eq(count[all[i]], 0);
    ck_assert_uint_eq(count[IMREC_OP_INVERT] + count[IMREC_OP_IDENTITY], 0);
}

/* ---- RandAugment -------------------------------------------------------------------------------
 */

TEST(a_deviation_makes_magnitudes_normal_and_a_probability_leaves_operations_out)
{
    struct cooked c;
    double sum = 0, square = 0;
    uint32_t turned = 0, within = 0, applied = 0;
    cook(&c, "rand_augment=2 rand_augment_magnitude=15 rand_augment_mstd=2 rand_augment_prob=0.5");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 70, 60);
        applied += d.op_count;
        for (uint32_t i = 0; i < d.op_count; i++)
            if (d.op[i] == IMREC_OP_ROTATE) {
                const double off = fabs((double)d.op_magnitude[i]) - 15; /* 30 degrees at 30 */
                sum += off, square += off * off, within += fabs(off) < 2, turned++;
            }
    }
    must_be_often("half of two", applied / 2.0, 0.5);
    ck_assert_uint_gt(turned, 1000);
    ck_assert_double_le(fabs(sum / turned), 4 * 2 / sqrt(turned));
    ck_assert_double_le(fabs(square / turned / 4 - 1), 0.12);
    ck_assert_double_le(fabs(within / (double)turned - 0.6827), 0.06);
}

TEST(magnitudes_stay_within_their_range)
{
    struct cooked c;
    uint32_t low = 0, high = 0;
    cook(&c,
         "rand_augment=1 rand_augment_magnitude=5 rand_augment_mstd=50 rand_augment_style=timm");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 70, 60);
        const float m = fabsf(d.op_magnitude[0]);
        if (d.op[0] != IMREC_OP_ROTATE)
            continue;
        ck_assert_float_le(m, 30);
        low += m == 0, high += m == 30;
    }
    ck_assert(low > 100 && high > 100);
}

/* At 9 of 10, by timm's formulas; inc1 turns those that would grow weaker. */
static const struct {
    enum imrec_op op;
    float plain[2], grown[2]; /* with one sign, and with the other */
} strengths[] = {
    {IMREC_OP_ROTATE, {27, -27}, {27, -27}},
    {IMREC_OP_SHEAR_X, {0.27f, -0.27f}, {0.27f, -0.27f}},
    {IMREC_OP_SHEAR_Y, {0.27f, -0.27f}, {0.27f, -0.27f}},
    {IMREC_OP_TRANSLATE_X, {40.5f, -40.5f}, {40.5f, -40.5f}},
    {IMREC_OP_TRANSLATE_Y, {81, -81}, {81, -81}},
    {IMREC_OP_COLOR, {1.72f, 1.72f}, {1.81f, 0.19f}},
    {IMREC_OP_BRIGHTNESS, {1.72f, 1.72f}, {1.81f, 0.19f}},
    {IMREC_OP_CONTRAST, {1.72f, 1.72f}, {1.81f, 0.19f}},
    {IMREC_OP_SHARPNESS, {1.72f, 1.72f}, {1.81f, 0.19f}},
    {IMREC_OP_POSTERIZE, {3, 3}, {1, 1}},
    {IMREC_OP_SOLARIZE, {230, 230}, {26, 26}},
    {IMREC_OP_SOLARIZE_ADD, {99, 99}, {99, 99}},
    {IMREC_OP_AUTOCONTRAST, {0, 0}, {0, 0}},
    {IMREC_OP_EQUALIZE, {0, 0}, {0, 0}},
    {IMREC_OP_INVERT, {0, 0}, {0, 0}},
};

LOOP_TEST(timms_operations_have_its_strengths, 0, 2) /* _i: inc */
{
    struct cooked c;
    uint32_t count[COUNT(strengths)] = {0}, sign[COUNT(strengths)] = {0};
    cook(&c, _i != 0 ? "rand_augment=2 data_shape=3,200,100 rand_augment_style=timm_inc"
                     : "rand_augment=2 data_shape=3,200,100 rand_augment_style=timm");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 300, 300);
        ck_assert_uint_eq(d.op_count, 2);
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t k = 0;
            while (strengths[k].op != d.op[i])
                ck_assert_uint_lt(++k, COUNT(strengths));
            const float *want = _i != 0 ? strengths[k].grown : strengths[k].plain;
            const bool first = fabsf(d.op_magnitude[i] - want[0]) < 1e-4f;
            ck_assert_msg(first || fabsf(d.op_magnitude[i] - want[1]) < 1e-4f, "%d: %g", d.op[i],
                          (double)d.op_magnitude[i]);
            count[k]++, sign[k] += first;
        }
    }
    ck_assert_double_lt(chi_square(count, COUNT(strengths)), 43);
    for (uint32_t k = 0; k < 5; k++)
        ck_assert_double_le(fabs(sign[k] - count[k] / 2.0), 4 * sqrt(count[k] / 4.0));
}

TEST(a_schedule_changes_the_magnitude_by_sweep)
{
    static const struct {
        uint64_t sweep;
        float degrees;
    } want[] = {{0, 9}, {2, 9}, {3, 12.5f}, {9, 12.5f}, {10, 30}, {4000000000u, 30}};
    struct cooked c;
    uint32_t seen = 0;
    cook(&c,
         "rand_augment=1 rand_augment_magnitude=9 rand_augment_magnitude_schedule=3:12.5;10:30");
    for (size_t i = 0; i < COUNT(want); i++)
        for (uint64_t n = 0; n < 300; n++) {
            struct sample_key key = key_of(n);
            key.sweep = want[i].sweep;
            const struct imrec_draw d = augment_draw(&c.r, key, 70, 60);
            if (d.op[0] != IMREC_OP_ROTATE)
                continue;
            ck_assert_float_eq_tol(fabsf(d.op_magnitude[0]), want[i].degrees, 1e-5f);
            seen++;
        }
    ck_assert_uint_gt(seen, 60);
}

/* ---- whether -----------------------------------------------------------------------------------
 */

TEST(flips_mirrors_jitters_and_solarizations_come_as_often_as_asked)
{
    struct cooked c;
    uint32_t flipped = 0, mirrored = 0, jittered = 0, turned = 0, solarized = 0, both = 0;
    cook(&c, "rand_flip=0.3 rand_mirror_prob=0.2 jitter_prob=0.8 brightness=0.4 hue=0.1 "
             "random_solarize=0.1");
    for (uint64_t n = 0; n < N; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 60, 60);
        flipped += d.flip, mirrored += d.mirror, solarized += d.solarized;
        both += d.flip && d.mirror;
        jittered += d.brightness != 1;
        turned += d.hue != 0;
        ck_assert_int_eq(d.brightness != 1, d.hue != 0); /* one decision for both */
    }
    must_be_often("flips", flipped, 0.3);
    must_be_often("mirrors", mirrored, 0.2);
    must_be_often("both", both, 0.06);
    must_be_often("jitters", jittered, 0.8);
    must_be_often("hues", turned, 0.8);
    must_be_often("solarizations", solarized, 0.1);
}

TEST(a_probability_of_one_half_mirrors_as_rand_mirror_does)
{
    struct cooked c, half;
    cook(&c, "rand_mirror=1");
    cook(&half, "rand_mirror_prob=0.5");
    for (uint64_t n = 0; n < 1000; n++)
        ck_assert_int_eq(augment_draw(&c.r, key_of(n), 60, 60).mirror,
                         augment_draw(&half.r, key_of(n), 60, 60).mirror);
    cook(&c, "rand_mirror_prob=1 rand_flip=1");
    for (uint64_t n = 0; n < 1000; n++) {
        const struct imrec_draw d = augment_draw(&c.r, key_of(n), 60, 60);
        ck_assert(d.mirror && d.flip);
    }
}
