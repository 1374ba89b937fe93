/* augment/geometry/warp_avx2.c - affine warps on AVX2: eight pixels a step where all their taps lie
 * in the image or none does; those at its border go one by one through the scalar. */
#include "augment/geometry/warp_places.h"
#include "augment/resize/tap_bytes.h"

/* ---- storing ------------------------------------------------------------------------------ */

/* s[k]: values of the pixels k and k + 4, 4 x int32 each. */
INLINE2 void store8(uint8_t *out, const __m256i s[4], uint32_t channels, bool last)
{
    __m256i px =
        _mm256_packus_epi16(_mm256_packs_epi32(s[0], s[1]), _mm256_packs_epi32(s[2], s[3]));
    if (channels == 4) {
        store256(out, px);
        return;
    }
    uint8_t copy[32];
    uint8_t *to = last ? copy : out; /* 4 bytes are written past the end */
    px = _mm256_shuffle_epi8(px, load_twice(close_gaps));
    store_halves(to, to + 12, px);
    if (last)
        memcpy(out, copy, 3 * STEP);
}

/* ---- bilinear ----------------------------------------------------------------------------- */

/* Pixels a and b (in the halves), by the weights of their upper and lower taps. Of 16 bytes 6 or 8
 * count: a load into the other half costs no shuffle then. */
INLINE2 __m256i two_pixels(const uint8_t *a, const uint8_t *b, size_t stride, __m256i pairs,
                           __m256i upper, __m256i lower)
{
    const __m256i top = _mm256_shuffle_epi8(load_halves(a, b), pairs);
    const __m256i bottom = _mm256_shuffle_epi8(load_halves(a + stride, b + stride), pairs);
    const __m256i sum =
        _mm256_add_epi32(_mm256_madd_epi16(top, upper), _mm256_madd_epi16(bottom, lower));
    return _mm256_srli_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(1 << 9)), 10);
}

INLINE2 void linear8(const struct warp_row *r, const struct places *p, uint32_t channels,
                     uint8_t *out, bool last)
{
    const __m256i pairs = load_twice(channels == 3 ? first3 : first4);
    const uint8_t *from = r->from;
    const int32_t *at = p->at;
    __m256i u, l;
    bilinear_weights(p, &u, &l);
    const __m256i s[4] = {two_pixels(from + at[0], from + at[4], r->stride, pairs,
                                     _mm256_shuffle_epi32(u, 0x00), _mm256_shuffle_epi32(l, 0x00)),
                          two_pixels(from + at[1], from + at[5], r->stride, pairs,
                                     _mm256_shuffle_epi32(u, 0x55), _mm256_shuffle_epi32(l, 0x55)),
                          two_pixels(from + at[2], from + at[6], r->stride, pairs,
                                     _mm256_shuffle_epi32(u, 0xaa), _mm256_shuffle_epi32(l, 0xaa)),
                          two_pixels(from + at[3], from + at[7], r->stride, pairs,
                                     _mm256_shuffle_epi32(u, 0xff), _mm256_shuffle_epi32(l, 0xff))};
    store8(out, s, channels, last);
}

INLINE2 void linear8_grey(const struct warp_row *r, const struct places *p, uint8_t *out)
{
    __m256i upper, lower;
    int32_t top[STEP], bottom[STEP];
    bilinear_weights(p, &upper, &lower);
    for (int k = 0; k < STEP; k++) {
        const uint8_t *a = r->from + p->at[k];
        memcpy(&top[k], a, 4);
        memcpy(&bottom[k], a + r->stride, 4);
    }
    const __m256i pairs = load_twice(pairs1);
    const __m256i t = load256(top);
    const __m256i b = load256(bottom);
    const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(_mm256_shuffle_epi8(t, pairs), upper),
                                         _mm256_madd_epi16(_mm256_shuffle_epi8(b, pairs), lower));
    const __m256i v = _mm256_srli_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(1 << 9)), 10);
    const __m256i words = _mm256_packus_epi32(v, v), bytes = _mm256_packus_epi16(words, words);
    const int32_t low = _mm256_extract_epi32(bytes, 0), high = _mm256_extract_epi32(bytes, 4);
    memcpy(out, &low, 4);
    memcpy(out + 4, &high, 4);
}

/* ---- cubic, Lanczos ----------------------------------------------------------------------- */

/* Four taps of a row and four more, by the two words of the weights w that `which` names in either
 * lane, and by the two after them. */
INLINE2 __m256i eight_taps(__m256i px, __m256i w, __m256i which, uint32_t channels)
{
    const __m256i first = load_twice(channels == 3 ? first3 : first4);
    const __m256i last = load_twice(channels == 3 ? last3 : last4);
    const __m256i next = _mm256_add_epi32(which, _mm256_set1_epi32(1));
    return _mm256_add_epi32(
        _mm256_madd_epi16(_mm256_shuffle_epi8(px, first), _mm256_permutevar8x32_epi32(w, which)),
        _mm256_madd_epi16(_mm256_shuffle_epi8(px, last), _mm256_permutevar8x32_epi32(w, next)));
}

INLINE2 __m128i many_taps(const uint8_t *px, size_t stride, const int16_t *weights, int taps,
                          uint32_t channels)
{
    const __m256i *w = (const __m256i *)(const void *)weights; /* 16 at a time */
    const __m256i low = _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2);
    const __m256i high = _mm256_add_epi32(low, _mm256_set1_epi32(4));
    __m256i sum = _mm256_setzero_si256();
    if (taps == 4) { /* two rows at once */
        sum = eight_taps(load_halves(px, px + stride), *w, low, channels);
        px += 2 * stride;
        sum = _mm256_add_epi32(sum, eight_taps(load_halves(px, px + stride), *w, high, channels));
    }
    for (int j = 0; taps == 8 && j < 4; j++, px += 2 * stride) {
        const uint8_t *below = px + stride;
        sum = _mm256_add_epi32(
            sum, eight_taps(load_halves(px, px + 4 * (size_t)channels), w[j], low, channels));
        sum = _mm256_add_epi32(sum, eight_taps(load_halves(below, below + 4 * (size_t)channels),
                                               w[j], high, channels));
    }
    const __m128i both =
        _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return _mm_srai_epi32(_mm_add_epi32(both, _mm_set1_epi32(1 << 14)), 15);
}

INLINE2 void taps8(const struct warp_row *r, const struct places *p, int taps, uint32_t channels,
                   uint8_t *out, bool last)
{
    int32_t block[STEP];
    __m128i one[STEP];
    const __m256i at = _mm256_add_epi32(_mm256_slli_epi32(p->v, WARP_FRACTION_BITS), p->u);
    store256(block, at);
    for (int k = 0; k < STEP; k++)
        one[k] = many_taps(r->from + p->at[k], r->stride,
                           r->weights + (size_t)block[k] * (size_t)(taps * taps), taps, channels);
    const __m256i s[4] = {_mm256_set_m128i(one[4], one[0]), _mm256_set_m128i(one[5], one[1]),
                          _mm256_set_m128i(one[6], one[2]), _mm256_set_m128i(one[7], one[3])};
    store8(out, s, channels, last);
}

/* ---- nearest ------------------------------------------------------------------------------ */

INLINE2 void nearest8(const struct warp_row *r, const struct places *p, uint32_t channels,
                      uint8_t *out, bool last)
{
    uint8_t copy[4 * STEP];
    uint8_t *to = last ? copy : out; /* with three channels a byte is written past the end */
    for (int k = 0; k < STEP; k++)
        memcpy(to + (size_t)k * channels, r->from + p->at[k], 4);
    if (last)
        memcpy(out, copy, (size_t)STEP * channels);
}

/* ---- a row -------------------------------------------------------------------------------- */

INLINE2 void row_of(const struct warp_row *r, uint8_t *out, int taps, uint32_t channels)
{
    /* A load of 16 bytes (of one tap and of grey: 4) is that many pixels past its taps. */
    const int32_t beyond = channels == 1                    ? 2
                           : taps == 1                      ? (channels == 3)
                           : channels == 4                  ? (taps == 2 ? 2 : 0)
                           : /* three channels */ taps == 2 ? 4
                                                            : 2;
    struct places p;
    uint32_t x = 0;
    for (; x + STEP <= r->width; x += STEP, out += STEP * channels) {
        const bool last = x + STEP + 2 > r->width; /* 4 bytes are less than two pixels */
        find(r, x, taps, beyond, &p);
        if (!p.all_inside)
            warp_pixels(r, x, x + STEP, out, p.all_outside);
        else if (taps == 1)
            nearest8(r, &p, channels, out, last);
        else if (taps == 2 && channels == 1)
            linear8_grey(r, &p, out);
        else if (taps == 2)
            linear8(r, &p, channels, out, last);
        else
            taps8(r, &p, taps, channels, out, last);
    }
    warp_pixels(r, x, r->width, out, false);
}

#define LOOP INLINE2
#include "augment/geometry/warp_taps.h"

AVX2 void warp_row_avx2(const struct warp_row *r, uint8_t *out)
{
    if (!warp_fits_32_bits(r) || (r->channels == 1 && r->taps != 2))
        warp_row_scalar(r, out);
    else if (r->channels == 1)
        row_of(r, out, 2, 1);
    else if (r->taps == 1 && r->channels == 3)
        row_of(r, out, 1, 3);
    else if (r->taps == 1)
        row_of(r, out, 1, 4);
    else if (r->channels == 3)
        by_taps(r, out, 3);
    else
        by_taps(r, out, 4);
}
