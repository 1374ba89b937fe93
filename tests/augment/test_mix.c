/* Mixup and cutmix: how shares spread, what is mixed with what, labels too. */
#include "augment/mix.h"
#include "augment/normalize/normalize_kernels.h"
#include "tests/support/guard.h"
#include "tests/support/imageset.h"
#include "tests/support/recipes.h"
#include "tests/support/suite.h"

#include <math.h>

enum { N = 20000, VALUES = 3 * 12 * 12 };

static struct sample_key key_of(uint64_t n)
{
    return (struct sample_key){.seed = 9, .sweep = n % 7, .shard = n % 3, .offset = n * 1048};
}

/* ---- shares ------------------------------------------------------------------------------------
 */

static const float alphas[] = {0.05f, 0.2f, 0.8f, 1, 2, 4};

CASE(.timeout = 60)

LOOP_TEST(shares_are_beta_distributed, 0,
          COUNT(alphas)) /* _i into alphas: mean 1/2, variance 1 / (8 alpha + 4) */
{
    struct cooked c;
    char words[64];
    double sum = 0, square = 0;
    snprintf(words, sizeof(words), "mixup=%g", (double)alphas[_i]);
    cook(&c, words);
    for (uint64_t n = 0; n < N; n++) {
        const struct mix_draw d = mix_draw(&c.r, key_of(n));
        ck_assert(d.share >= 0 && d.share <= 1 && !d.cut);
        sum += (double)d.share;
        square += ((double)d.share - 0.5) * ((double)d.share - 0.5);
    }
    const double want = 1 / (8 * (double)alphas[_i] + 4);
    ck_assert_double_le(fabs(sum / N - 0.5), 4 * sqrt(want / N));
    ck_assert_double_le(fabs(square / N / want - 1), 0.06);
}

TEST(with_both_half_of_the_pairs_are_cut)
{
    struct cooked both, cut;
    uint32_t cuts = 0;
    cook(&both, "mixup=0.2 cutmix=1");
    cook(&cut, "cutmix=1 dtype=uint8");
    for (uint64_t n = 0; n < N; n++) {
        cuts += mix_draw(&both.r, key_of(n)).cut;
        ck_assert(mix_draw(&cut.r, key_of(n)).cut);
    }
    ck_assert_double_le(fabs(cuts - N / 2.0), 4 * sqrt(N / 4.0));
}

TEST(rectangles_lie_in_the_slot_and_have_their_share)
{
    for (int i = 0; i < 2000; i++) {
        const struct mix_draw d = {0, (float)(i % 41) / 40, true, i % 17 / 17.0, i % 23 / 23.0};
        const struct imrec_rect r = mix_rectangle(&d, 50, 30);
        ck_assert(r.x + r.width <= 50 && r.y + r.height <= 30);
        ck_assert_double_le(r.width, 50 * sqrt(1 - (double)d.share) + 1);
    }
    const struct mix_draw middle = {0, 0.75f, true, 0.5, 0.5};
    const struct imrec_rect r = mix_rectangle(&middle, 40, 20);
    ck_assert(r.x == 10 && r.y == 5 && r.width == 20 && r.height == 10);
}

TEST(blends_are_alike_by_every_variant)
{
    for (size_t n = 1; n < 60; n++) {
        float a[60], b[60], x[60], y[60];
        for (size_t i = 0; i < n; i++)
            a[i] = x[i] = (float)i * 1.7f - 9, b[i] = y[i] = 40 - (float)(i * i);
        blend_scalar(0.3f, a, b, n);
        ck_assert_float_le(fabsf(a[n - 1] - (0.3f * x[n - 1] + 0.7f * y[n - 1])), 1e-3f);
        for (int l = 1; l < CPU_LEVELS; l++) {
            float p[60], q[60];
            memcpy(p, x, sizeof(p));
            memcpy(q, y, sizeof(q));
            if (!cpu_has((enum cpu_level)l))
                continue;
            normalize_kernels[l].blend(0.3f, p, q, n);
            ck_assert(memcmp(p, a, n * sizeof(float)) == 0 && memcmp(q, b, n * sizeof(float)) == 0);
        }
    }
}

/* ---- batches -----------------------------------------------------------------------------------
 */

static enum bad seventh(uint32_t i)
{
    return i == 7 ? BAD_PIXELS : GOOD;
}

static struct image_set make(void)
{
    return image_set_make(
        &(struct image_set_options){.records = 25, .shards = 1, .labels = 1, .bad = seventh});
}

/* What a slot must hold, out of the slots that were not mixed. */
static float
mixed(const struct imrec_draw *d, const float *plain, uint32_t slot, uint32_t k, bool nhwc)
{
    const float own = plain[slot * VALUES + k];
    const float other = plain[d->mix_partner * VALUES + k];
    const uint32_t x = nhwc ? k / 3 % 12 : k % 12, y = nhwc ? k / 36 : k / 12 % 12;
    if (d->mix_share == 1)
        return own;
    if (d->cut_width == 0)
        return d->mix_share * own + (1 - d->mix_share) * other;
    const bool in = x >= d->cut_x && x < d->cut_x + d->cut_width && y >= d->cut_y &&
                    y < d->cut_y + d->cut_height;
    return in ? other : own;
}

static void check_batch(const struct imrec_batch *m, const struct imrec_batch *p, bool nhwc)
{
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < m->slots; i++) {
        const struct imrec_draw *d = &m->draws[i];
        if (!m->valid[i] || (d->mix_share == 1 && d->cut_width == 0))
            continue;
        ck_assert(m->valid[i] && m->valid[d->mix_partner] && d->mix_partner != i);
        ck_assert_uint_eq(m->draws[d->mix_partner].mix_partner, i);
        pairs++;
        const float a = p->labels[i], b = p->labels[d->mix_partner], rest = 1 - d->mix_share;
        for (uint32_t c = 0; c < 30; c++) {
            const float want = ((float)c == a ? d->mix_share : 0) + ((float)c == b ? rest : 0);
            ck_assert_float_le(fabsf(m->labels[i * 30 + c] - want), 1e-6f);
        }
        for (uint32_t k = 0; k < VALUES; k++)
            ck_assert_float_le(
                fabsf(((const float *)m->data)[i * VALUES + k] - mixed(d, p->data, i, k, nhwc)),
                1e-4f);
    }
    ck_assert_uint_ge(pairs + 3, m->count); /* one may be alone, one is damaged */
}

LOOP_TEST(pairs_of_a_batch_are_mixed_and_so_are_their_labels, 0, 3) /* _i: mixup, cutmix, both */
{
    static const char *const how[] = {"mixup=0.8", "cutmix=1 layout=NHWC", "mixup=0.4 cutmix=1"};
    struct image_set s = make();
    struct imrec_batch m, p;
    struct imrec_error err;
    char words[200];
    const char *common = "batch_size=10 rand_crop=1 on_error=skip record_draws=1 shuffle=1";
    snprintf(words, sizeof(words), "%s %s num_classes=30", common, how[_i]);
    struct imrec_iter *mixing = set_open(&s, true, words);
    snprintf(words, sizeof(words), "%s %s", common, _i == 1 ? "layout=NHWC" : "");
    struct imrec_iter *plain = set_open(&s, true, words);
    for (int batch = 0; batch < 3; batch++) {
        ck_assert_int_eq(imrec_iter_next(mixing, &m, &err), IMREC_OK);
        ck_assert_int_eq(imrec_iter_next(plain, &p, &err), IMREC_OK);
        ck_assert_uint_eq(m.label_width, 30);
        check_batch(&m, &p, _i == 1);
    }
    imrec_iter_close(mixing);
    imrec_iter_close(plain);
    image_set_free(&s);
}

TEST(mixing_depends_on_no_thread_and_changes_with_the_sweep)
{
    struct image_set s = make();
    struct stream a = {0}, b = {0};
    for (int i = 0; i < 2; i++) {
        struct imrec_iter *it = set_open(
            &s, false,
            i == 0 ? "mixup=0.5 cutmix=0.5 num_classes=30 on_error=skip preprocess_threads=1"
                   : "mixup=0.5 cutmix=0.5 num_classes=30 on_error=skip preprocess_threads=4");
        stream_read(i == 0 ? &a : &b, it, VALUES * sizeof(float), 2, SIZE_MAX);
        imrec_iter_close(it);
    }
    streams_must_equal(&b, &a, "4 threads");
    int same = 0;
    for (size_t i = 0; i < 25; i++)
        same += a.seen[i].hash == a.seen[i + 26].hash;
    ck_assert_int_le(same, 3);
    stream_free(&a);
    stream_free(&b);
    image_set_free(&s);
}

TEST(classes_that_do_not_exist_fail_their_samples)
{
    struct image_set s = make();
    struct imrec_batch b;
    struct imrec_error err = {0};
    struct imrec_iter *it = set_open(&s, false, "batch_size=6 num_classes=4");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "its label is 4, but num_classes=4") != NULL, "%s",
                  err.message);
    ck_assert_uint_eq(b.failed, 2);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t c = 0; c < 4; c++)
            ck_assert(b.labels[4 * i + c] == (float)(i == c));
    imrec_iter_close(it);
    image_set_free(&s);
}
