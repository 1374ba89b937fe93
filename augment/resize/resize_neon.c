/* augment/resize/resize_neon.c - Pillow's resizes on NEON: the channels of a pixel at once along
 * the rows, eight bytes at once across them; in integers, so the order of the sums does not count.
 */
#include "augment/resize/pillow.h"
#include "base/simd.h"

#include <string.h>

INLINE_NEON int32x4_t four_bytes(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    const uint16x8_t words = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(v)));
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
}

void pillow_x_neon(const struct pillow_axis *a, const uint8_t *row, uint32_t channels, uint8_t *out)
{
    if (channels == 1) {
        pillow_x_scalar(a, row, channels, out);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t *w = a->weights + (size_t)i * a->taps;
        const uint8_t *px = row + (size_t)(a->first[i] - a->first[0]) * channels;
        int32x4_t sum = vdupq_n_s32(1 << (PILLOW_BITS - 1));
        for (int32_t k = 0; k < a->used[i]; k++, px += channels)
            sum = vmlaq_n_s32(sum, four_bytes(px), w[k]);
        sum = vshrq_n_s32(sum, PILLOW_BITS);
        const uint8x8_t bytes = bytes_of(sum, sum);
        memcpy(out, &bytes, 4);
        out += channels;
    }
}

void pillow_y_neon(const uint8_t *rows, size_t stride, const int32_t *weights, uint32_t used,
                   size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        int32x4_t low = vdupq_n_s32(1 << (PILLOW_BITS - 1)), high = low;
        for (uint32_t k = 0; k < used; k++) {
            const int16x8_t px = vreinterpretq_s16_u16(vmovl_u8(load8(rows + k * stride + i)));
            low = vmlaq_n_s32(low, vmovl_s16(vget_low_s16(px)), weights[k]);
            high = vmlaq_n_s32(high, vmovl_s16(vget_high_s16(px)), weights[k]);
        }
        vst1_u8(out + i, bytes_of(vshrq_n_s32(low, PILLOW_BITS), vshrq_n_s32(high, PILLOW_BITS)));
    }
    pillow_y_scalar(rows + i, stride, weights, used, n - i, out + i);
}
