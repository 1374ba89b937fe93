/* augment/normalize/blend.h - two slots blended, each with the other. */
#ifndef IMREC_AUGMENT_NORMALIZE_BLEND_H
#define IMREC_AUGMENT_NORMALIZE_BLEND_H

#include <stddef.h>

/* a = share a + (1 - share) b, and b likewise, of n values. */
typedef void blend_fn(float share, float *a, float *b, size_t n);
blend_fn blend_scalar, blend_avx2, blend_neon;
#endif
