/* augment/draw/sound.c - the part of a sound that is drawn, and its values in a slot. */
#include "augment/draw/sound.h"

#include "base/error.h"
#include "base/rng.h"

#include <math.h>

static uint64_t length_of(const struct augment_options *o)
{
    return (uint64_t)o->data_shape.height * o->data_shape.width;
}

/* ---- draws -------------------------------------------------------------------------------- */

struct imrec_draw
sound_draw(const struct augment_options *o, struct sample_key key, uint64_t samples)
{
    const struct rng_block bits = draw_block(key, DRAW_SOUND);
    const uint64_t n = length_of(o), slack = samples > n ? samples - n : n - samples;
    const uint64_t place = o->rand_crop ? rng_below(bits.v[0], slack + 1) : slack / 2;
    const uint64_t shifts = 2 * (uint64_t)o->max_random_shift + 1;
    const float gain = draw_between(bits.v[2], -o->max_random_gain, o->max_random_gain);
    struct imrec_draw d = {.mix_share = 1};
    d.sound_begin = samples > n ? (int64_t)place : -(int64_t)place;
    d.sound_begin += (int64_t)rng_below(bits.v[1], shifts) - o->max_random_shift;
    d.sound_gain = o->max_random_gain > 0 ? powf(10, gain / 20) : 1;
    return d;
}

/* ---- values ------------------------------------------------------------------------------- */

/* Of the slot, samples [from, to) are of the sound: the first one is its sample `at`. */
struct part {
    uint64_t from, to, at;
};

static struct part part_of(uint64_t n, const struct sound *s, const struct imrec_draw *d)
{
    const int64_t begin = d->sound_begin;
    struct part p = {.at = begin > 0 ? (uint64_t)begin : 0,
                     .from = begin < 0 ? (uint64_t)-begin : 0};
    p.from = p.from < n ? p.from : n;
    const uint64_t left = p.at < s->samples ? s->samples - p.at : 0;
    p.to = left < n - p.from ? p.from + left : n;
    return p;
}

static int32_t value_at(const uint8_t *p)
{
    return (int16_t)((uint32_t)p[0] | (uint32_t)p[1] << 8);
}

/* Of the sound's channels [first, first + count), added up. */
static int32_t sum_at(const struct sound *s, uint64_t i, uint32_t first, uint32_t count)
{
    const uint8_t *p = s->frames + 2 * (i * s->channels + first);
    int32_t sum = 0;
    for (uint32_t c = 0; c < count; c++)
        sum += value_at(p + 2 * (size_t)c);
    return sum;
}

/* Whole numbers are added up: no order of adding changes it. */
static float mean_of(const struct sound *s, const struct part *p, uint32_t first, uint32_t count)
{
    int64_t sum = 0;
    for (uint64_t i = p->from; i < p->to; i++)
        sum += sum_at(s, p->at + (i - p->from), first, count);
    return p->to > p->from ? (float)((double)sum / (double)((p->to - p->from) * count)) : 0;
}

static void fill_channel(const struct augment_options *o, const struct sound *s,
                         const struct part *p, float gain, uint32_t c, float *slot)
{
    const float means[] = {o->mean_r, o->mean_g, o->mean_b, o->mean_a};
    const float stds[] = {o->std_r, o->std_g, o->std_b, o->std_a};
    const uint64_t n = length_of(o), channels = o->data_shape.channels;
    const uint32_t first = channels == s->channels ? c : 0;
    const uint32_t count = channels == 1 ? s->channels : 1;
    const uint64_t step = o->layout == IMREC_NCHW ? 1 : channels;
    const float own = o->subtract_mean ? mean_of(s, p, first, count) : 0;
    const float scale = o->scale / stds[c];
    float *to = slot + (o->layout == IMREC_NCHW ? c * n : c);
    for (uint64_t i = 0; i < n; i++) {
        float x = 0;
        if (i >= p->from && i < p->to)
            x = ((float)sum_at(s, p->at + (i - p->from), first, count) / (float)count - own) * gain;
        to[i * step] = (x - means[c]) * scale;
    }
}

enum imrec_status sound_to_slot(const struct augment_options *o, const struct sound *s,
                                const struct imrec_draw *d, float *slot, struct imrec_error *err)
{
    const uint32_t channels = o->data_shape.channels;
    const struct part p = part_of(length_of(o), s, d);
    if (s->channels != channels && s->channels != 1 && channels != 1)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "the sound has %u channels, data_shape %u: either has to be 1, or "
                          "both equal",
                          s->channels, channels);
    for (uint32_t c = 0; c < channels; c++)
        fill_channel(o, s, &p, d->sound_gain, c, slot);
    return IMREC_OK;
}
