/* augment/normalize/normalize.c - checks, derived tables, and the scalar truth of the fused kernel.
 * -ffp-contract=off keeps a compiler from fusing a multiply and a subtraction in one variant
 * only. */
#include "augment/normalize/normalize.h"

#include "base/bytes.h"
#include "base/error.h"

#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

size_t dtype_size(enum imrec_dtype dtype)
{
    return dtype == IMREC_FLOAT32 ? 4 : dtype == IMREC_FLOAT16 || dtype == IMREC_BFLOAT16 ? 2 : 1;
}

/* ---- checks ------------------------------------------------------------------------------- */

static enum imrec_status check_shape(const struct normalize_job *j, struct imrec_error *err)
{
    size_t bytes;
    if (j->channels != 1 && j->channels != 3 && j->channels != 4)
        return IMREC_REFUSE(err, "a slot has 1, 3 or 4 channels, not %u", j->channels);
    if (j->width == 0 || j->height == 0 || !mul_fits(j->width, j->height, &bytes) ||
        !mul_fits(bytes, j->channels * sizeof(float), &bytes) || bytes > PTRDIFF_MAX)
        return IMREC_REFUSE(err, "a slot of %u x %u px has no size in memory", j->width, j->height);
    if ((unsigned)j->how.dtype > IMREC_BFLOAT16 || (unsigned)j->how.layout > IMREC_NHWC)
        return IMREC_REFUSE(
            err,
            "dtype %u, layout %u: one of 0..4 (float32, float16, uint8, int8, bfloat16) and "
            "0..1 (NCHW, NHWC) is needed",
            (unsigned)j->how.dtype, (unsigned)j->how.layout);
    return IMREC_OK;
}

static bool given(float factor) /* 0 is what a zeroed struct holds */
{
    return factor != 0 && factor != 1;
}

/* One channel's numbers, by what the dtype can make of them. */
static enum imrec_status
check_channel(const struct imrec_normalize *n, uint32_t c, struct imrec_error *err)
{
    const bool real = dtype_is_real(n->dtype);
    if (n->dtype == IMREC_UINT8 && n->mean[c] != 0)
        return IMREC_REFUSE(err, "dtype uint8 delivers the pixels as they are: it takes no mean");
    if (!real && (given(n->std[c]) || given(n->scale)))
        return IMREC_REFUSE(err,
                            "dtype %s takes no std and no scale; float32, float16 and "
                            "bfloat16 do",
                            n->dtype == IMREC_UINT8 ? "uint8" : "int8");
    if (real && !isfinite(n->scale / n->std[c]))
        return IMREC_REFUSE(err, "scale %g / std %g of channel %u is not a number to multiply with",
                            (double)n->scale, (double)n->std[c], c);
    if (!isfinite(n->mean[c]))
        return IMREC_REFUSE(err, "the mean of channel %u is not a finite number", c);
    return IMREC_OK;
}

/* ---- derived tables ----------------------------------------------------------------------- */

/* round(mean), half away from zero. Past +-1024 every pixel saturates alike; a mean image's NaN
 * counts as -1024, in every variant. */
static int32_t whole_mean(float mean)
{
    const float low = mean > -1024 ? mean : -1024;
    return (int32_t)lroundf(low < 1024 ? low : 1024);
}

static void set_pick(struct normalize_job *j, uint32_t lane, uint32_t px, uint32_t c)
{
    const uint32_t channels = j->channels, window = normalize_second_window(channels);
    struct normalize_picks *p = &j->picks;
    p->wide[lane] = (uint8_t)((j->how.mirror ? 15 - px : px) * channels + c);
    if (px >= 8)
        return;
    const uint32_t from = (j->how.mirror ? 7 - px : px) * channels + c;
    p->first[lane] = (uint8_t)(from < 16 ? from : 0x80);
    p->second[lane] = (uint8_t)(from < 16 ? 0x80 : from - window);
}

/* Value i of a block: NCHW has 16 lanes a channel, NHWC the channels of pixel after pixel. */
static void set_lanes(struct normalize_job *j)
{
    const uint32_t channels = j->channels;
    uint32_t lane = 0;
    const bool planes = j->how.layout == IMREC_NCHW;
    for (uint32_t a = 0; a < (planes ? channels : 16); a++)
        for (uint32_t b = 0; b < (planes ? 16 : channels); b++, lane++) {
            const uint32_t c = planes ? a : b;
            j->lane_mean[lane] = j->how.mean[c];
            j->lane_gain[lane] = j->gain[c];
            j->lane_shift[lane] = j->shift[c];
            set_pick(j, lane, planes ? b : a, c);
        }
}

enum imrec_status normalize_prepare(struct normalize_job *job, struct imrec_error *err)
{
    IMREC_TRY(check_shape(job, err));
    if (job->how.dtype == IMREC_UINT8 && job->how.mean_image != NULL)
        return IMREC_REFUSE(err,
                            "dtype uint8 delivers the pixels as they are: it takes no mean image");
    for (uint32_t c = 0; c < job->channels; c++) {
        IMREC_TRY(check_channel(&job->how, c, err));
        job->gain[c] = job->how.scale / job->how.std[c];
        job->shift[c] = whole_mean(job->how.mean[c]);
    }
    set_lanes(job);
    return IMREC_OK;
}

void normalize_finish(const struct normalize_job *job)
{
#if defined(__x86_64__)
    if (job->stream)
        _mm_sfence();
#else
    (void)job;
#endif
}

/* ---- the scalar truth --------------------------------------------------------------------- */

/* IEEE binary16, to nearest, ties to even; overflow is infinity, NaN stays a quiet NaN. */
static uint16_t half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (size >> 13 & 0x3ffu));
    if (size >= 0x477ff000u) /* 65520: half way to the first that does not fit */
        return (uint16_t)(sign | 0x7c00u);
    if (size >= 0x38800000u) { /* 2^-14: normal. A carry out of the fraction is the exponent's */
        const uint32_t rebiased = size - 0x38000000u;
        return (uint16_t)(sign | (rebiased + 0xfffu + (rebiased >> 13 & 1u)) >> 13);
    }
    const uint32_t drop = 126u - (size >> 23); /* subnormal: a whole number of 2^-24 */
    if (drop > 24u)
        return (uint16_t)sign;
    const uint32_t fraction = (size & 0x7fffffu) | 0x800000u;
    const uint32_t whole = fraction >> drop, rest = fraction & ((1u << drop) - 1u);
    const uint32_t middle = 1u << (drop - 1u);
    return (uint16_t)(sign | (whole + (rest > middle || (rest == middle && (whole & 1u) != 0))));
}

/* The upper half of binary32, to nearest, ties to even; NaN stays a quiet NaN. */
static uint16_t upper_half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static int8_t saturate(int32_t v)
{
    return (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
}

/* One channel of one row: how to walk it. Steps are in pixels' bytes, floats and values. */
struct walk {
    const uint8_t *px;
    const float *mean;
    uint8_t *out;
    ptrdiff_t px_step, mean_step, out_step;
    uint32_t count;
};

static void put_float32(const struct walk *w, float gain)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)w->count; i++) {
        const float value = ((float)w->px[i * w->px_step] - w->mean[i * w->mean_step]) * gain;
        memcpy(w->out + 4 * i * w->out_step, &value, 4); /* a caller's memory may be unaligned */
    }
}

static void put_float16(const struct walk *w, float gain)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)w->count; i++) {
        const float value = ((float)w->px[i * w->px_step] - w->mean[i * w->mean_step]) * gain;
        const uint16_t half = half_of(value);
        memcpy(w->out + 2 * i * w->out_step, &half, 2);
    }
}

static void put_bfloat16(const struct walk *w, float gain)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)w->count; i++) {
        const float value = ((float)w->px[i * w->px_step] - w->mean[i * w->mean_step]) * gain;
        const uint16_t half = upper_half_of(value);
        memcpy(w->out + 2 * i * w->out_step, &half, 2);
    }
}

static void put_uint8(const struct walk *w)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)w->count; i++)
        w->out[i * w->out_step] = w->px[i * w->px_step];
}

static void put_int8(const struct walk *w)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)w->count; i++)
        w->out[i * w->out_step] =
            (uint8_t)saturate(w->px[i * w->px_step] - whole_mean(w->mean[i * w->mean_step]));
}

static void put_int8_constant(const struct walk *w, int32_t shift)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)w->count; i++)
        w->out[i * w->out_step] = (uint8_t)saturate(w->px[i * w->px_step] - shift);
}

/* Column x of the slot comes from column first + x * turn of the source and of the mean image. */
static struct walk
walk_of(const struct normalize_job *j, const uint8_t *src, uint32_t y, uint32_t c)
{
    const size_t plane = (size_t)j->width * j->height, row = (size_t)y * j->width;
    const bool planes = j->how.layout == IMREC_NCHW, image = j->how.mean_image != NULL;
    const ptrdiff_t turn = j->how.mirror ? -1 : 1;
    const size_t first = j->how.mirror ? j->width - 1 : 0;
    const size_t to = normalize_slot_row(j, y) * j->width;
    const size_t at = planes ? c * plane + to : to * j->channels + c;
    return (struct walk){
        .px = src + first * j->channels + c,
        .mean = image ? j->how.mean_image + c * plane + row + first : j->how.mean + c,
        .out = (uint8_t *)j->out + at * dtype_size(j->how.dtype),
        .px_step = turn * (ptrdiff_t)j->channels,
        .mean_step = image ? turn : 0,
        .out_step = planes ? 1 : (ptrdiff_t)j->channels,
        .count = j->width,
    };
}

void normalize_row_scalar(const struct normalize_job *job, const uint8_t *src, uint32_t y)
{
    for (uint32_t c = 0; c < job->channels; c++) {
        const struct walk w = walk_of(job, src, y, c);
        if (job->how.dtype == IMREC_FLOAT32)
            put_float32(&w, job->gain[c]);
        else if (job->how.dtype == IMREC_FLOAT16)
            put_float16(&w, job->gain[c]);
        else if (job->how.dtype == IMREC_BFLOAT16)
            put_bfloat16(&w, job->gain[c]);
        else if (job->how.dtype == IMREC_UINT8)
            put_uint8(&w);
        else if (job->how.mean_image != NULL)
            put_int8(&w);
        else
            put_int8_constant(&w, job->shift[c]);
    }
}

/* ---- one value ---------------------------------------------------------------------------- */

void normalize_put(enum imrec_dtype dtype, float value, void *out)
{
    uint16_t half = dtype == IMREC_FLOAT16 ? half_of(value) : upper_half_of(value);
    const float bounded = value < -128 ? -128 : value > 255 ? 255 : value;
    if (dtype == IMREC_FLOAT32)
        memcpy(out, &value, sizeof(value));
    else if (dtype == IMREC_FLOAT16 || dtype == IMREC_BFLOAT16)
        memcpy(out, &half, sizeof(half));
    else
        *(uint8_t *)out = (uint8_t)lrintf(bounded);
}
