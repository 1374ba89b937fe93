/* augment/resize/resize_axis.c - the coordinates and weights of OpenCV 3.4 along an axis. */
#include "augment/resize/resize_axis.h"

#include "augment/resize/resize_taps.h"

#include <float.h>
#include <math.h>

struct resize_axis resize_axis(uint32_t from, uint32_t to)
{
    struct resize_axis a = {.from = from, .to = to, .inverse = (double)to / (double)from};
    a.step = 1 / a.inverse;
    const double whole = rint(a.step);
    if (a.step >= 1 && fabs(a.step - whole) < DBL_EPSILON)
        a.whole = (uint32_t)whole;
    return a;
}

enum resize_kind resize_kind(const struct resize_job *job)
{
    const struct resize_axis x = resize_axis(job->from_width, job->to_width);
    const struct resize_axis y = resize_axis(job->from_height, job->to_height);
    if (x.from == x.to && y.from == y.to)
        return KIND_COPY;
    if (job->method == RESIZE_NEAREST)
        return KIND_NEAREST;
    if (job->method == RESIZE_CUBIC)
        return KIND_CUBIC;
    if (job->method == RESIZE_LANCZOS)
        return KIND_LANCZOS;
    if (x.whole == 2 && y.whole == 2)
        return KIND_HALF;
    if (job->method == RESIZE_BILINEAR)
        return KIND_LINEAR;
    if (x.step < 1 || y.step < 1)
        return KIND_AREA_ENLARGE;
    return x.whole != 0 && y.whole != 0 ? KIND_AREA_WHOLE : KIND_AREA;
}

uint32_t nearest_at(const struct resize_axis *a, uint32_t at)
{
    const double s = floor(at * a->step);
    return s < a->from - 1 ? (uint32_t)s : a->from - 1;
}

struct taps_place taps_at(const struct resize_axis *a, uint32_t at)
{
    const float f = (float)((at + 0.5) * a->step - 0.5), s = floorf(f);
    return (struct taps_place){.at = (int64_t)s, .f = f - s};
}

struct linear_tap linear_at(const struct resize_axis *a, enum resize_kind kind, uint32_t at)
{
    float f;
    double s;
    if (kind == KIND_AREA_ENLARGE) {
        s = floor(at * a->step);
        f = (float)((at + 1.0) - (s + 1) * a->inverse);
        f = f <= 0 ? 0 : f - floorf(f);
    } else {
        const struct taps_place p = taps_at(a, at);
        s = (double)p.at;
        f = p.f;
    }
    /* Two roundings, not one: the weights may add up to 2047 or 2049. */
    return (struct linear_tap){.at = (int64_t)s,
                               .weight = (int16_t)lrintf((1 - f) * 2048),
                               .next_weight = (int16_t)lrintf(f * 2048)};
}

struct area_taps area_at(const struct resize_axis *a, uint32_t at)
{
    const double p = at * a->step, q = p + a->step;
    const double cell = fmin(a->step, a->from - p);
    const double j = fmin(floor(q), a->from - 1.0), i = fmin(ceil(p), j);
    const bool before = i - p > 0.001, after = q - j > 0.001;
    const uint32_t inner = (uint32_t)(j - i);
    struct area_taps t = {.first = (uint32_t)i - before, .count = before + inner + after};
    t.inner_weight = t.first_weight = t.last_weight = (float)(1 / cell);
    if (before)
        t.first_weight = (float)((i - p) / cell);
    if (after)
        t.last_weight = (float)(fmin(fmin(q - j, 1), cell) / cell);
    if (after && t.count == 1)
        t.first_weight = t.last_weight;
    return t;
}

static struct resize_span
linear_span(const struct resize_axis *a, enum resize_kind kind, uint32_t begin, uint32_t length)
{
    const int64_t last = (int64_t)a->from - 1;
    int64_t first = linear_at(a, kind, begin).at;
    int64_t end = linear_at(a, kind, begin + length - 1).at + 1;
    first = first < 0 ? 0 : first < last ? first : last;
    end = end < 0 ? 0 : end < last ? end : last;
    return (struct resize_span){(uint32_t)first, (uint32_t)(end - first) + 1};
}

static struct resize_span
taps_span(const struct resize_axis *a, int64_t reach, uint32_t begin, uint32_t length)
{
    const int64_t last = (int64_t)a->from - 1;
    int64_t first = taps_at(a, begin).at - reach + 1;
    int64_t end = taps_at(a, begin + length - 1).at + reach;
    first = first < 0 ? 0 : first < last ? first : last;
    end = end < 0 ? 0 : end < last ? end : last;
    return (struct resize_span){(uint32_t)first, (uint32_t)(end - first) + 1};
}

struct resize_span resize_axis_span(const struct resize_axis *a, enum resize_kind kind,
                                    uint32_t begin, uint32_t length)
{
    const uint32_t last = begin + length - 1;
    switch (kind) {
    case KIND_COPY:
        break;
    case KIND_NEAREST: {
        const uint32_t first = nearest_at(a, begin);
        return (struct resize_span){first, nearest_at(a, last) - first + 1};
    }
    case KIND_LINEAR:
    case KIND_AREA_ENLARGE:
        return linear_span(a, kind, begin, length);
    case KIND_CUBIC:
        return taps_span(a, TAPS_CUBIC / 2, begin, length);
    case KIND_LANCZOS:
        return taps_span(a, TAPS_LANCZOS / 2, begin, length);
    case KIND_HALF:
    case KIND_AREA_WHOLE:
        return (struct resize_span){begin * a->whole, length * a->whole};
    case KIND_AREA: {
        const uint32_t first = area_at(a, begin).first;
        const struct area_taps end = area_at(a, last);
        return (struct resize_span){first, end.first + end.count - first};
    }
    }
    return (struct resize_span){begin, length};
}
