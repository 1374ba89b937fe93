/* augment/colour/weigh_neon.c - a weighted sum of images on NEON: eight values a step. */
#include "augment/colour/weigh.h"
#include "base/simd.h"

INLINE_NEON void add4(float32x4_t share, uint16x4_t px, float *sum)
{
    const float32x4_t v = vcvtq_f32_u32(vmovl_u16(px));
    vst1q_f32(sum, vaddq_f32(vld1q_f32(sum), vmulq_f32(share, v)));
}

void weigh_neon(float share, const uint8_t *px, float *sum, size_t n)
{
    const float32x4_t s = vdupq_n_f32(share);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint16x8_t words = vmovl_u8(load8(px + i));
        add4(s, vget_low_u16(words), sum + i);
        add4(s, vget_high_u16(words), sum + i + 4);
    }
    weigh_scalar(share, px + i, sum + i, n - i);
}
