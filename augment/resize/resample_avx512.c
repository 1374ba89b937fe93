/* augment/resize/resample_avx512.c - the packer's resampling on AVX-512 with VBMI and VNNI: one
 * permutation brings the four taps of 16 values together, two instructions multiply and add
 * them all, by the high and by the low parts of the weights. */
#include "augment/resize/resample_passes.h"
#include "base/simd.h"

/* ---- along the rows ----------------------------------------------------------------------- */

/* A block of both rows, under way: what the weights' high parts made, and what the low parts. */
struct sums {
    __m512i high0, low0, high1, low1;
};

INLINE512 __m512i pick_taps(const uint8_t *px, __m512i pick, bool wide)
{
    const __m512i window = _mm512_loadu_si512(px);
    if (!wide)
        return _mm512_permutexvar_epi8(pick, window);
    return _mm512_permutex2var_epi8(window, pick, _mm512_loadu_si512(px + RESAMPLE_WINDOW));
}

INLINE512 void add_group(struct sums *s, const uint8_t *px0, const uint8_t *px1, __m512i pick,
                         const int8_t *parts, bool wide)
{
    const __m512i high = _mm512_load_si512(parts), low = _mm512_load_si512(parts + RESAMPLE_WINDOW);
    const __m512i taps0 = pick_taps(px0, pick, wide), taps1 = pick_taps(px1, pick, wide);
    s->high0 = _mm512_dpbusd_epi32(s->high0, taps0, high);
    s->high1 = _mm512_dpbusd_epi32(s->high1, taps1, high);
    s->low0 = _mm512_dpbusd_epi32(s->low0, taps0, low);
    s->low1 = _mm512_dpbusd_epi32(s->low1, taps1, low);
}

/* (256 * high + low) >> 8, of the first row in the low halves, of the second in the high ones */
INLINE512 __m512i values_of(const struct sums *s)
{
    const __m512i first = _mm512_add_epi32(s->high0, _mm512_srai_epi32(s->low0, RESAMPLE_X_SHIFT));
    const __m512i second = _mm512_add_epi32(s->high1, _mm512_srai_epi32(s->low1, RESAMPLE_X_SHIFT));
    return _mm512_mask_blend_epi16(0xaaaaaaaau, first, _mm512_slli_epi32(second, 16));
}

INLINE512 void rows_by(const struct resample_axis *axis, const uint8_t *const rows[2], int16_t *out,
                       uint32_t groups, bool wide)
{
    const struct resample_axis a = *axis; /* which the stores cannot change */
    const uint8_t *row0 = rows[0], *row1 = rows[1];
    const size_t step = RESAMPLE_GROUP * a.channels;
    const int8_t *parts = a.parts;
    const __m512i half = _mm512_set1_epi32(1 << (RESAMPLE_X_SHIFT - 1));
    for (uint32_t b = 0; b < a.blocks; b++, out += 2 * RESAMPLE_BLOCK) {
        const __m512i pick = _mm512_load_si512(a.picks + (size_t)b * RESAMPLE_WINDOW);
        const uint8_t *px0 = row0 + a.window[b], *px1 = row1 + a.window[b];
        struct sums s = {_mm512_setzero_si512(), half, _mm512_setzero_si512(), half};
        add_group(&s, px0, px1, pick, parts, wide);
        parts += 2 * RESAMPLE_WINDOW;
        for (uint32_t g = 1; g < groups; g++, parts += 2 * RESAMPLE_WINDOW)
            add_group(&s, px0 + g * step, px1 + g * step, pick, parts, wide);
        _mm512_store_si512(out, values_of(&s));
    }
}

/* The usual numbers of taps have loops of their own. */
AVX512 void
resample_x_avx512(const struct resample_axis *a, const uint8_t *const rows[2], int16_t *out)
{
    const uint32_t groups = a->taps / RESAMPLE_GROUP;
    if (a->blocks == 0)
        resample_x_avx2(a, rows, out);
    else if (a->wide)
        rows_by(a, rows, out, groups, true);
    else if (groups == 1)
        rows_by(a, rows, out, 1, false);
    else if (groups == 2)
        rows_by(a, rows, out, 2, false);
    else
        rows_by(a, rows, out, groups, false);
}

/* ---- across the rows ---------------------------------------------------------------------- */

INLINE512 __m512i add_pair(__m512i sum, const int16_t *v, __m512i weights)
{
    return _mm512_dpwssd_epi32(sum, _mm512_load_si512(v), weights);
}

typedef __m512i ints;
#define LOOP         INLINE512
#define V(operation) _mm512_##operation
#include "augment/resize/resample_rows.h"

INLINE512 __m512i sixtyfour(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                            size_t x)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, values_at(rows, weights, pairs, x));
}

AVX512 void resample_y_avx512(const int16_t *const *rows, const int16_t *weights, uint32_t pairs,
                              size_t n, uint8_t *out)
{
    size_t x = 0;
    for (; x + 64 <= n; x += 64)
        _mm512_storeu_si512(out + x, sixtyfour(rows, weights, pairs, x));
    if (x < n)
        _mm512_mask_storeu_epi8(out + x, ~(__mmask64)0 >> (64 - (n - x)),
                                sixtyfour(rows, weights, pairs, x));
}
