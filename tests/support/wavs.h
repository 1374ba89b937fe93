/* tests/support/wavs.h - sounds made in code: tones as WAV files. */
#ifndef IMREC_TESTS_WAVS_H
#define IMREC_TESTS_WAVS_H

#include "base/buf.h"
#include "base/bytes.h"

#include <check.h>
#include <math.h>

struct tone {
    uint32_t channels, rate, samples;
    double hertz;     /* of channel 0; channel c has c times 100 Hz more */
    double amplitude; /* of 32767 */
    int offset;       /* added to every value */
};

static inline void wav_put(struct buf *b, const void *p, size_t n)
{
    ck_assert_int_eq(buf_append(b, p, n, NULL), IMREC_OK);
}

static inline void wav_number(struct buf *b, uint32_t v, size_t n)
{
    uint8_t bytes[4];
    store_le32(bytes, v);
    wav_put(b, bytes, n);
}

static inline int tone_value(const struct tone *t, uint32_t i, uint32_t c)
{
    const double phase = 2 * 3.14159265358979 * (t->hertz + 100.0 * c) * i / t->rate;
    return (int)lround(32767 * t->amplitude * sin(phase)) + t->offset;
}

/* Head with a chunk that nobody knows before the data. */
static inline void wav_make(struct buf *b, const struct tone *t)
{
    const uint32_t bytes = 2 * t->channels * t->samples;
    b->n = 0;
    wav_put(b, "RIFF", 4);
    wav_number(b, 4 + 24 + 12 + 8 + bytes, 4);
    wav_put(b, "WAVEfmt ", 8);
    wav_number(b, 16, 4);
    wav_number(b, 1, 2);
    wav_number(b, t->channels, 2);
    wav_number(b, t->rate, 4);
    wav_number(b, t->rate * 2 * t->channels, 4);
    wav_number(b, 2 * t->channels, 2);
    wav_number(b, 16, 2);
    wav_put(b, "note\3\0\0\0abc\0", 12); /* odd: padded */
    wav_put(b, "data", 4);
    wav_number(b, bytes, 4);
    for (uint32_t i = 0; i < t->samples; i++)
        for (uint32_t c = 0; c < t->channels; c++)
            wav_number(b, (uint32_t)tone_value(t, i, c), 2);
}
enum { WAV_FMT = 12, WAV_NOTE = 36, WAV_DATA = 48, WAV_HEAD = 56 }; /* where chunks begin */

/* How much of `hertz` is in n values: Goertzel's algorithm; a pure tone gives its amplitude. */
static inline double tone_share(const float *v, size_t n, double hertz, double rate)
{
    const double w = 2 * 3.14159265358979 * hertz / rate;
    double re = 0, im = 0;
    for (size_t i = 0; i < n; i++) {
        re += (double)v[i] * cos(w * (double)i);
        im += (double)v[i] * sin(w * (double)i);
    }
    return 2 * sqrt(re * re + im * im) / (double)n;
}
#endif
