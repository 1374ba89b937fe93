/* augment/mix.c - shares of mixup and cutmix drawn, and slots mixed. */
#include "augment/mix.h"

#include "augment/normalize/normalize_kernels.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { TRIES = 1000 };

/* ---- drawing ------------------------------------------------------------------------------ */

/* Joehnk (1964): of two powers of uniform numbers that add up to at most 1, the share of the first;
 * in logarithms, as powers of small alpha vanish. */
static bool beta_try(uint64_t a, uint64_t b, double alpha, double *share)
{
    const double x = log(1 - draw_unit(a)) / alpha, y = log(1 - draw_unit(b)) / alpha;
    const double most = fmax(x, y), sum = most + log(exp(x - most) + exp(y - most));
    *share = exp(x - sum);
    return sum <= 0;
}

static float beta(struct sample_key key, double alpha)
{
    double share = 0.5;
    for (uint32_t i = 0; i < TRIES; i++) {
        const struct rng_block bits = draw_block(key, DRAW_BETA + i);
        if (beta_try(bits.v[0], bits.v[1], alpha, &share) ||
            beta_try(bits.v[2], bits.v[3], alpha, &share))
            return (float)share;
    }
    return 0.5f;
}

struct mix_draw mix_draw(const struct recipe *r, struct sample_key key)
{
    const struct rng_block bits = draw_block(key, DRAW_MIX);
    struct mix_draw d = {.order = bits.v[0], .x = draw_unit(bits.v[2]), .y = draw_unit(bits.v[3])};
    d.cut = r->o->cutmix > 0 && (r->o->mixup <= 0 || bits.v[1] >> 63 != 0);
    d.share = beta(key, (double)(d.cut ? r->o->cutmix : r->o->mixup));
    return d;
}

/* ---- mixing ------------------------------------------------------------------------------- */

static void cut_axis(double middle, double ratio, uint32_t size, uint32_t *first, uint32_t *count)
{
    const double half = floor(size * ratio) / 2, at = floor(middle * size);
    const double low = fmax(at - floor(half), 0), high = fmin(at + ceil(half), size);
    *first = (uint32_t)low;
    *count = high > low ? (uint32_t)(high - low) : 0;
}

struct imrec_rect mix_rectangle(const struct mix_draw *d, uint32_t width, uint32_t height)
{
    const double ratio = sqrt(1 - (double)d->share);
    struct imrec_rect r;
    cut_axis(d->x, ratio, width, &r.x, &r.width);
    cut_axis(d->y, ratio, height, &r.y, &r.height);
    return r;
}

void mix_swap_bytes(uint8_t *a, uint8_t *b, size_t n)
{
    uint8_t part[1024];
    while (n != 0) {
        const size_t now = n < sizeof(part) ? n : sizeof(part);
        memcpy(part, a, now);
        memcpy(a, b, now);
        memcpy(b, part, now);
        a += now, b += now, n -= now;
    }
}

static void
swap_rectangles(const struct augment_options *o, struct imrec_rect r, uint8_t *a, uint8_t *b)
{
    const struct imrec_shape *s = &o->data_shape;
    const bool planes = o->layout == IMREC_NCHW;
    const size_t pixel = dtype_size(o->dtype) * (planes ? 1 : (size_t)s->channels);
    for (uint32_t c = 0; c < (planes ? s->channels : 1); c++)
        for (uint32_t y = r.y; y < r.y + r.height; y++) {
            const size_t at = (((size_t)c * s->height + y) * s->width + r.x) * pixel;
            mix_swap_bytes(a + at, b + at, r.width * pixel);
        }
}

float mix_slots(const struct augment_options *o, const struct mix_draw *d, void *a, void *b)
{
    const struct imrec_shape *s = &o->data_shape;
    const size_t pixels = (size_t)s->width * s->height;
    if (!d->cut) {
        normalize_kernels[cpu_level()].blend(d->share, a, b, pixels * s->channels);
        return d->share;
    }
    const struct imrec_rect r = mix_rectangle(d, s->width, s->height);
    swap_rectangles(o, r, a, b);
    return 1 - (float)((double)r.width * r.height / (double)pixels);
}
