/* augment/normalize/blend_neon.c - two slots blended on NEON: four values a step. */
#include "augment/normalize/blend.h"
#include "base/simd.h"

void blend_neon(float share, float *a, float *b, size_t n)
{
    const float32x4_t s = vdupq_n_f32(share), rest = vdupq_n_f32(1 - share);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float32x4_t x = vld1q_f32(a + i), y = vld1q_f32(b + i);
        vst1q_f32(a + i, vaddq_f32(vmulq_f32(s, x), vmulq_f32(rest, y)));
        vst1q_f32(b + i, vaddq_f32(vmulq_f32(s, y), vmulq_f32(rest, x)));
    }
    blend_scalar(share, a + i, b + i, n - i);
}
