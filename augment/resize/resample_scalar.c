/* augment/resize/resample_scalar.c - the passes of the packer's resampling, and of Pillow's, that
 * the others must equal. */
#include "augment/resize/pillow.h"
#include "augment/resize/resample_passes.h"

static int16_t along(const int16_t *weights, uint32_t taps, const uint8_t *px, uint32_t channels)
{
    int32_t sum = 1 << (RESAMPLE_X_SHIFT - 1);
    for (uint32_t k = 0; k < taps; k++)
        sum += weights[k] * px[(size_t)k * channels];
    return (int16_t)(sum >> RESAMPLE_X_SHIFT);
}

void resample_x_scalar(const struct resample_axis *a, const uint8_t *const rows[2], int16_t *out)
{
    for (uint32_t at = 0; at < a->to; at++) {
        const int16_t *weights = a->weights + (size_t)at * a->taps;
        for (uint32_t c = 0; c < a->channels; c++) {
            const size_t byte = (size_t)a->first[at] * a->channels + c;
            *out++ = along(weights, a->taps, rows[0] + byte, a->channels);
            *out++ = along(weights, a->taps, rows[1] + byte, a->channels);
        }
    }
}

static uint8_t to_byte(int32_t sum)
{
    const int32_t v = (sum + (1 << (RESAMPLE_Y_SHIFT - 1))) >> RESAMPLE_Y_SHIFT;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

void resample_y_scalar(const int16_t *const *rows, const int16_t *weights, uint32_t pairs, size_t n,
                       uint8_t *out)
{
    for (size_t x = 0; x < n; x++) {
        int32_t sum = 0;
        for (uint32_t p = 0; p < pairs; p++)
            sum += weights[2 * p] * rows[p][2 * x] + weights[2 * p + 1] * rows[p][2 * x + 1];
        out[x] = to_byte(sum);
    }
}

void pillow_x_scalar(const struct pillow_axis *a, const uint8_t *row, uint32_t channels,
                     uint8_t *out)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t *w = a->weights + (size_t)i * a->taps;
        const uint8_t *px = row + (size_t)(a->first[i] - a->first[0]) * channels;
        for (uint32_t c = 0; c < channels; c++) {
            int32_t sum = 1 << (PILLOW_BITS - 1);
            for (int32_t k = 0; k < a->used[i]; k++)
                sum += px[(size_t)k * channels + c] * w[k];
            *out++ = pillow_byte(sum);
        }
    }
}

void pillow_y_scalar(const uint8_t *rows, size_t stride, const int32_t *weights, uint32_t used,
                     size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int32_t sum = 1 << (PILLOW_BITS - 1);
        for (uint32_t k = 0; k < used; k++)
            sum += rows[k * stride + i] * weights[k];
        out[i] = pillow_byte(sum);
    }
}
