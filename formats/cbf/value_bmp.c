/* formats/cbf/value_bmp.c - 24 bits a pixel, or 8 and a palette of greys; rows from the bottom. */
#include "formats/cbf/value_bmp.h"

#include "base/math.h"
#include "formats/sequence_chunk.h"

#include <string.h>

enum { FILE_HEAD = 14, INFO_HEAD = 40, PALETTE = 256 * 4, MOST_SIDE = 16384 };

uint32_t value_bmp_side(uint32_t values, uint32_t *channels)
{
    for (*channels = 3;; *channels = 1) {
        const uint32_t side = root_u32(values / *channels);
        if (side != 0 && side <= MOST_SIDE && values % *channels == 0 &&
            side * side == values / *channels)
            return side;
        if (*channels == 1)
            return 0;
    }
}

static size_t stride_of(uint32_t side, uint32_t channels)
{
    return ((size_t)side * channels + 3) / 4 * 4;
}

static size_t head_bytes(uint32_t channels)
{
    return FILE_HEAD + INFO_HEAD + (channels == 1 ? PALETTE : 0);
}

size_t value_bmp_bytes(uint32_t side, uint32_t channels)
{
    return head_bytes(channels) + stride_of(side, channels) * side;
}

static void write_head(uint32_t side, uint32_t channels, uint8_t *out)
{
    memset(out, 0, head_bytes(channels));
    out[0] = 'B';
    out[1] = 'M';
    store_le32(out + 2, (uint32_t)value_bmp_bytes(side, channels));
    store_le32(out + 10, (uint32_t)head_bytes(channels));
    store_le32(out + FILE_HEAD, INFO_HEAD);
    store_le32(out + 18, side);
    store_le32(out + 22, side);
    out[26] = 1; /* plane */
    out[28] = channels == 1 ? 8 : 24;
    for (uint32_t i = 0; channels == 1 && i < 256; i++)
        memset(out + FILE_HEAD + INFO_HEAD + (size_t)i * 4, (int)i, 3);
}

bool value_bmp_write(const uint8_t *values, bool is_double, uint32_t side, uint32_t channels,
                     uint8_t *out)
{
    const size_t stride = stride_of(side, channels), plane = (size_t)side * side;
    bool pixels = true;
    write_head(side, channels, out);
    for (uint32_t y = 0; pixels && y < side; y++) {
        uint8_t *row = out + head_bytes(channels) + stride * (side - 1 - y);
        memset(row + stride - 4, 0, 4);
        for (uint32_t c = 0; c < channels; c++)
            for (uint32_t x = 0; x < side; x++) {
                const double v = stream_value(values, is_double ? STREAM_DOUBLE : STREAM_FLOAT,
                                              c * plane + (size_t)y * side + x);
                const uint8_t b = v >= 0 && v <= 255 ? (uint8_t)v : 0;
                pixels &= (double)b == v;
                row[(size_t)x * channels + (channels - 1 - c)] = b; /* blue, green, red */
            }
    }
    return pixels;
}
