/* tests/augment/test_sound.c - values of a slot against the sentences of docs/guide/sounds.md, and
 * the distribution of what is drawn. */
#include "augment/draw/sound.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 9, MOST = 4 * 64 };

static int16_t values[3 * SAMPLES];

static struct augment_options options(uint32_t channels, uint32_t samples)
{
    struct augment_options o;
    param_defaults(augment_params, &o);
    o.data_shape = (struct imrec_shape){channels, 1, samples};
    return o;
}

static struct sound make(uint32_t channels)
{
    static uint8_t bytes[1 + sizeof(values)]; /* at an odd address */
    for (uint32_t i = 0; i < channels * SAMPLES; i++) {
        values[i] = (int16_t)((i * 2654435761u >> 7) % 65536 - 32768);
        bytes[1 + 2 * i] = (uint8_t)values[i];
        bytes[2 + 2 * i] = (uint8_t)((uint16_t)values[i] >> 8);
    }
    return (struct sound){bytes + 1, channels, SAMPLES};
}

/* x of the guide, in double: sample i of channel c of the slot, before the mean is taken off. */
static bool raw(const struct sound *s, uint32_t channels, const struct imrec_draw *d, uint32_t i,
                uint32_t c, double *x)
{
    const int64_t at = d->sound_begin + i;
    if (at < 0 || at >= SAMPLES)
        return false;
    const int16_t *frame = values + at * s->channels;
    *x = frame[s->channels == channels ? c : 0];
    if (channels == 1 && s->channels > 1) {
        *x = 0;
        for (uint32_t k = 0; k < s->channels; k++)
            *x += (double)frame[k] / s->channels;
    }
    return true;
}

static double own_mean(const struct sound *s, const struct augment_options *o,
                       const struct imrec_draw *d, uint32_t c)
{
    double sum = 0, x;
    int n = 0;
    for (uint32_t i = 0; i < o->data_shape.width; i++)
        if (raw(s, o->data_shape.channels, d, i, c, &x)) {
            sum += x;
            n++;
        }
    return n != 0 && o->subtract_mean ? sum / n : 0;
}

static void
check(const struct sound *s, const struct augment_options *o, const struct imrec_draw *d)
{
    const float means[] = {o->mean_r, o->mean_g, o->mean_b, o->mean_a};
    const float stds[] = {o->std_r, o->std_g, o->std_b, o->std_a};
    const uint32_t channels = o->data_shape.channels, n = o->data_shape.width;
    float slot[MOST + 1];
    slot[channels * n] = 77;
    ck_assert_int_eq(sound_to_slot(o, s, d, slot, NULL), IMREC_OK);
    ck_assert(slot[channels * n] == 77);
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t i = 0; i < n; i++) {
            double x = 0;
            if (raw(s, channels, d, i, c, &x))
                x = (x - own_mean(s, o, d, c)) * (double)d->sound_gain;
            const double want = (x - (double)means[c]) * (double)o->scale / (double)stds[c];
            const float got = slot[o->layout == IMREC_NCHW ? c * n + i : i * channels + c];
            ck_assert_msg(fabs((double)got - want) <= 1e-5 * (fabs(want) + 32768),
                          "channel %u, sample %u, begin %lld: %g instead of %g", c, i,
                          (long long)d->sound_begin, (double)got, want);
        }
}

LOOP_TEST(a_slot_has_what_the_guide_says, 0,
          36) /* _i: channels of the sound, of the slot, and how */
{
    const uint32_t of_sound = 1 + (uint32_t)_i % 3, of_slot = 1 + (uint32_t)_i / 3 % 3;
    struct augment_options o = options(of_slot, 5 + (uint32_t)_i / 9 * 4); /* 5, 9, 13, 17 */
    const struct sound s = make(of_sound);
    struct imrec_draw d = {.sound_gain = 1};
    o.subtract_mean = _i % 2;
    o.layout = _i % 4 >= 2 ? IMREC_NHWC : IMREC_NCHW;
    if (_i % 3 != 0) {
        o.mean_r = 10, o.mean_g = -20, o.mean_b = 300;
        o.std_r = 2, o.std_g = 3, o.std_b = 500, o.scale = 0.5f;
        d.sound_gain = 1.5f;
    }
    if (of_sound != of_slot && of_sound != 1 && of_slot != 1) {
        float slot[MOST];
        ck_assert_int_eq(sound_to_slot(&o, &s, &d, slot, NULL), IMREC_ERR_DATA);
        return;
    }
    for (d.sound_begin = -20; d.sound_begin < 12; d.sound_begin++)
        check(&s, &o, &d);
}

static struct imrec_draw draw(const struct augment_options *o, uint64_t i, uint64_t samples)
{
    return sound_draw(o, (struct sample_key){7, 1, i % 3, 100 * i, 0}, samples);
}

TEST(without_random_options_the_crop_is_the_middle)
{
    const struct augment_options o = options(1, 10);
    for (uint64_t n = 1; n < 30; n++) {
        const int64_t want = n >= 10 ? (int64_t)(n - 10) / 2 : -(int64_t)((10 - n) / 2);
        ck_assert_int_eq(draw(&o, n, n).sound_begin, want);
        ck_assert(draw(&o, n, n).sound_gain == 1);
    }
}

LOOP_TEST(every_place_is_as_likely, 0, 3) /* _i: longer, shorter, shifted */
{
    enum { DRAWS = 22000, PLACES = 11 };
    struct augment_options o = options(1, 20);
    const uint64_t n = _i == 0 ? 30 : _i == 1 ? 10 : 20;
    const int64_t least = _i == 0 ? 0 : _i == 1 ? -10 : -5;
    int count[PLACES] = {0};
    o.rand_crop = _i < 2;
    o.max_random_shift = _i < 2 ? 0 : 5;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const int64_t at = draw(&o, i, n).sound_begin - least;
        ck_assert(at >= 0 && at < PLACES);
        count[at]++;
    }
    for (int i = 0; i < PLACES; i++) /* 2000 each, deviation 43 */
        ck_assert_msg(abs(count[i] - DRAWS / PLACES) < 250, "%d: %d", i, count[i]);
}

TEST(place_shift_and_gain_do_not_depend_on_each_other)
{
    enum { DRAWS = 20000 };
    struct augment_options o = options(1, 1000), shifts = o, gains = o;
    double place = 0, both = 0, loud = 0, with = 0, decibels = 0;
    o.rand_crop = true;
    shifts.max_random_shift = 1000;
    gains.max_random_gain = 6;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double a = (double)draw(&o, i, 2000).sound_begin / 500 - 1; /* [-1, 1] */
        const double b = (double)draw(&shifts, i, 1000).sound_begin / 1000;
        const double c = 20 * log10((double)draw(&gains, i, 1000).sound_gain) / 6;
        ck_assert(fabs(c) <= 1.00001);
        place += a, both += a * b, loud += a * c, with += b * c, decibels += c;
    }
    ck_assert(fabs(place / DRAWS) < 0.03 && fabs(decibels / DRAWS) < 0.03);
    ck_assert(fabs(both / DRAWS) < 0.02 && fabs(loud / DRAWS) < 0.02 && fabs(with / DRAWS) < 0.02);
}

TEST(one_option_does_not_change_what_another_draws)
{
    struct augment_options o = options(1, 1000), all;
    o.rand_crop = true;
    all = o;
    all.max_random_gain = 6;
    for (uint64_t i = 0; i < 100; i++)
        ck_assert_int_eq(draw(&o, i, 5000).sound_begin, draw(&all, i, 5000).sound_begin);
}
