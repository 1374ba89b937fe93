/* iter/sample/planes.c - images that are decoded already. */
#include "iter/sample/planes.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/math.h"
#include "codec/colour_rows.h"

#include <string.h>

static float float_at(const struct planes *in, size_t i)
{
    if (!in->is_double)
        return load_le_float(in->p + 4 * i);
    double d;
    const uint64_t bits = load_le64(in->p + 8 * i);
    memcpy(&d, &bits, sizeof(d));
    return (float)d;
}

/* ---- shape --------------------------------------------------------------------------------- */

static bool is_square(uint32_t values, uint32_t channels, uint32_t *side)
{
    *side = root_u32(values / channels);
    return values % channels == 0 && *side * *side == values / channels;
}

enum imrec_status planes_shape(uint32_t values, const struct imrec_shape *wanted,
                               struct planes *out, struct imrec_error *err)
{
    uint32_t side;
    *out = (struct planes){
        .channels = wanted->channels, .height = wanted->height, .width = wanted->width};
    if ((uint64_t)wanted->channels * wanted->height * wanted->width == values)
        return IMREC_OK;
    const bool square = is_square(values, wanted->channels, &side);
    if (!square && (wanted->channels != 3 || !is_square(values, 1, &side)))
        return IMREC_REFUSE(err,
                            "its decoded images have %u values: neither data_shape (%u, %u, "
                            "%u) nor a square of %u channels has as many",
                            values, wanted->channels, wanted->height, wanted->width,
                            wanted->channels);
    out->channels = square ? wanted->channels : 1;
    out->height = out->width = side;
    return IMREC_OK;
}

/* ---- bytes --------------------------------------------------------------------------------- */

enum { BLOCK = 64 }; /* values at once */
#define LITTLE_ENDIAN_CPU (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* BLOCK values as bytes. False: one is not a byte. Added to 2^23, a whole number from 0 to 255 is
 * in the last bits: a loop without a branch, which compilers vectorize. */
static bool block_to_bytes(const float *v, uint8_t *to)
{
    uint32_t bits[BLOCK], wrong = 0;
    float sum[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        sum[i] = v[i] + 8388608.0f;
    memcpy(bits, sum, sizeof(bits));
    for (uint32_t i = 0; i < BLOCK; i++) {
        const uint32_t whole = bits[i] - 0x4b000000u; /* the bits of 2^23 */
        wrong |= (uint32_t)(whole > 255) | (uint32_t)((float)(int32_t)whole != v[i]);
        bits[i] = whole;
    }
    for (uint32_t i = 0; i < BLOCK; i++)
        to[i] = (uint8_t)bits[i];
    return wrong == 0;
}

static void load_block(const struct planes *in, size_t from, uint32_t n, float v[BLOCK])
{
    if (!in->is_double && LITTLE_ENDIAN_CPU)
        memcpy(v, in->p + 4 * from, n * sizeof(*v));
    else
        for (uint32_t i = 0; i < n; i++)
            v[i] = float_at(in, from + i);
    for (uint32_t i = n; i < BLOCK; i++)
        v[i] = 0;
}

/* A row of a plane into every channels-th byte. */
static bool
row_to_bytes(const struct planes *in, size_t from, uint32_t width, uint32_t channels, uint8_t *to)
{
    bool bytes = true;
    for (uint32_t x = 0; bytes && x < width; x += BLOCK) {
        float v[BLOCK];
        uint8_t b[BLOCK];
        const uint32_t n = width - x < BLOCK ? width - x : BLOCK;
        load_block(in, from + x, n, v);
        bytes = block_to_bytes(v, b);
        for (uint32_t i = 0; i < n; i++)
            to[(size_t)(x + i) * channels] = b[i];
    }
    return bytes;
}

static size_t place(const struct planes *in, uint32_t c, uint32_t y, uint32_t x)
{
    const size_t plane = c < in->channels ? c : in->channels - 1; /* grey stands for all */
    return (plane * in->height + y) * in->width + x;
}

/* As the rows of a PNG are converted. */
static void pixels_to_bytes(const struct planes *in, struct imrec_rect region, struct image *out)
{
    const struct conversion how = {.from = in->channels == 1   ? PIXELS_GREY
                                           : in->channels == 3 ? PIXELS_RGB
                                                               : PIXELS_RGBA,
                                   .grey = GREY_PNG,
                                   .channels = out->view.channels,
                                   .alpha = CODEC_ALPHA_DROP};
    const uint8_t *from = in->p + region.y * in->stride + (size_t)region.x * in->channels;
    for (uint32_t y = 0; y < region.height; y++)
        colour_row(&how, from + y * in->stride, region.width,
                   out->view.pixels + y * out->view.stride);
}

enum imrec_status planes_to_bytes(const struct planes *in, struct imrec_rect region,
                                  uint32_t channels, struct image *out, struct imrec_error *err)
{
    bool bytes = true;
    IMREC_TRY(image_resize_buffer(out, region.width, region.height, channels, err));
    if (in->stride != 0) {
        pixels_to_bytes(in, region, out);
        return IMREC_OK;
    }
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t y = 0; bytes && y < region.height; y++)
            bytes = row_to_bytes(in, place(in, c, region.y + y, region.x), region.width, channels,
                                 out->view.pixels + y * out->view.stride + c);
    return bytes ? IMREC_OK : IMREC_END;
}

/* ---- values as they are ---------------------------------------------------------------------- */

static void row_to_slot(const struct planes *in, const struct normalize_job *job, size_t from,
                        uint32_t c, uint32_t y)
{
    const size_t plane = (size_t)job->width * job->height, row = (size_t)y * job->width;
    const size_t to = normalize_slot_row(job, y) * job->width;
    const float *image = job->how.mean_image;
    float *out = job->out;
    for (uint32_t i = 0; i < job->width; i++) {
        const uint32_t x = job->how.mirror ? job->width - 1 - i : i;
        const float mean = image != NULL ? image[c * plane + row + x] : job->how.mean[c];
        const size_t at =
            job->how.layout == IMREC_NCHW ? c * plane + to + i : (to + i) * job->channels + c;
        out[at] = (float_at(in, from + x) - mean) * job->gain[c];
    }
}

void planes_to_slot(const struct planes *in, struct imrec_rect region,
                    const struct normalize_job *job)
{
    for (uint32_t c = 0; c < job->channels; c++)
        for (uint32_t y = 0; y < job->height; y++)
            row_to_slot(in, job, place(in, c, region.y + y, region.x), c, y);
}
