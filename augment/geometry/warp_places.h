/* augment/geometry/warp_places.h - where eight pixels of a warped row come from: what the vector
 * variants have in common. */
#ifndef IMREC_AUGMENT_GEOMETRY_WARP_PLACES_H
#define IMREC_AUGMENT_GEOMETRY_WARP_PLACES_H

#include "augment/geometry/warp.h"
#include "base/simd.h"

#if defined(__x86_64__)
#include <string.h>

enum { STEP = 8 };

struct places {
    __m256i u, v;                 /* fractions, 0..31 */
    int32_t at[STEP];             /* bytes of the source: the first tap */
    bool all_inside, all_outside; /* with all that is loaded */
};

INLINE2 __m256i outside(__m256i at, int32_t first, int32_t last)
{
    return _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(first), at),
                           _mm256_cmpgt_epi32(at, _mm256_set1_epi32(last)));
}

/* Loads reach `beyond` pixels past the last tap. */
INLINE2 void
find(const struct warp_row *r, uint32_t i, int32_t taps, int32_t beyond, struct places *p)
{
    const int32_t before = taps > 1 ? taps / 2 - 1 : 0;
    const int32_t round = warp_rounding((uint32_t)taps);
    const __m256i u = _mm256_add_epi32(_mm256_set1_epi32(r->u0 + round), load256(r->u + i));
    const __m256i v = _mm256_add_epi32(_mm256_set1_epi32(r->v0 + round), load256(r->v + i));
    const __m256i mask = _mm256_set1_epi32(WARP_FRACTIONS - 1), less = _mm256_set1_epi32(before);
    const __m256i x = _mm256_sub_epi32(_mm256_srai_epi32(u, WARP_BITS), less);
    const __m256i y = _mm256_sub_epi32(_mm256_srai_epi32(v, WARP_BITS), less);
    p->u = _mm256_and_si256(_mm256_srai_epi32(u, WARP_BITS - WARP_FRACTION_BITS), mask);
    p->v = _mm256_and_si256(_mm256_srai_epi32(v, WARP_BITS - WARP_FRACTION_BITS), mask);
    const __m256i down = _mm256_mullo_epi32(_mm256_sub_epi32(y, _mm256_set1_epi32(r->y0)),
                                            _mm256_set1_epi32((int32_t)r->stride));
    const __m256i right = _mm256_mullo_epi32(_mm256_sub_epi32(x, _mm256_set1_epi32(r->x0)),
                                             _mm256_set1_epi32((int32_t)r->channels));
    store256(p->at, _mm256_add_epi32(down, right));
    const __m256i loads =
        _mm256_or_si256(outside(x, r->x0, r->x1 - taps - beyond), outside(y, r->y0, r->y1 - taps));
    p->all_inside = _mm256_testz_si256(loads, loads);
    const __m256i none = _mm256_or_si256(outside(x, r->x0 - taps + 1, r->x1 - 1),
                                         outside(y, r->y0 - taps + 1, r->y1 - 1));
    p->all_outside = _mm256_movemask_epi8(none) == -1;
}

/* Weights of the upper two taps, and of the lower two: 16 bits each, without the factor 32. */
INLINE2 void bilinear_weights(const struct places *p, __m256i *upper, __m256i *lower)
{
    const __m256i one = _mm256_set1_epi32(WARP_FRACTIONS);
    const __m256i across =
        _mm256_or_si256(_mm256_sub_epi32(one, p->u), _mm256_slli_epi32(p->u, 16));
    *upper = _mm256_mullo_epi32(_mm256_sub_epi32(one, p->v), across);
    *lower = _mm256_mullo_epi32(p->v, across);
}

#endif
#endif
