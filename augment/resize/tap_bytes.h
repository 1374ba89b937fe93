/* augment/resize/tap_bytes.h - orders of bytes that bring a value's taps together, for shuffles; on
 * NEON their sums, too. */
#ifndef IMREC_AUGMENT_RESIZE_TAP_BYTES_H
#define IMREC_AUGMENT_RESIZE_TAP_BYTES_H

#include "base/simd.h"

#include <stdint.h>

/* Of two or four neighbours of 3 or 4 bytes, the first two or the last two: each value's side by
 * side, widened to 16 bits. */
static const int8_t first3[16] = {0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1};
static const int8_t last3[16] = {6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1};
static const int8_t first4[16] = {0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1};
static const int8_t last4[16] = {8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1};
/* Of four pixels of a byte each, in 4 bytes, the first two. */
static const int8_t pairs1[16] = {0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1};
/* Four pixels of 3 values and a gap -> 12 bytes. */
static const int8_t close_gaps[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1};

#if defined(__aarch64__)
/* Two neighbours' values, of the first two pixels of 16 bytes or of the next two, as words. */
static const int8_t neighbours[2][2][16] = {
    {{0, -1, 1, -1, 2, -1, -1, -1, 3, -1, 4, -1, 5, -1, -1, -1},
     {6, -1, 7, -1, 8, -1, -1, -1, 9, -1, 10, -1, 11, -1, -1, -1}},
    {{0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1},
     {8, -1, 9, -1, 10, -1, 11, -1, 12, -1, 13, -1, 14, -1, 15, -1}}};

/* The four values of a pixel: sums of four pixels by four weights. */
INLINE_NEON int32x4_t add_four(int32x4_t sum, const uint8_t *px, const int16_t *weights,
                               uint32_t channels)
{
    const uint8x16_t v = load16(px);
    const int16x8_t a = vreinterpretq_s16_u8(ordered(v, neighbours[channels - 3][0]));
    const int16x8_t b = vreinterpretq_s16_u8(ordered(v, neighbours[channels - 3][1]));
    const int16x4_t w = vld1_s16(weights);
    sum = vmlal_lane_s16(sum, vget_low_s16(a), w, 0);
    sum = vmlal_lane_s16(sum, vget_high_s16(a), w, 1);
    sum = vmlal_lane_s16(sum, vget_low_s16(b), w, 2);
    return vmlal_lane_s16(sum, vget_high_s16(b), w, 3);
}
#endif
#endif
