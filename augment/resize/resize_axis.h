/* augment/resize/resize_axis.h - from which pixels, and by which weights, a resized axis is made:
 * the coordinates of OpenCV 3.4 (docs/guide/resampling.md has the formulas). */
#ifndef IMREC_AUGMENT_RESIZE_RESIZE_AXIS_H
#define IMREC_AUGMENT_RESIZE_RESIZE_AXIS_H

#include "augment/resize/resize.h"

/* What a resize comes down to. */
enum resize_kind {
    KIND_COPY,         /* equal sizes, whatever the method */
    KIND_NEAREST,      /**/
    KIND_LINEAR,       /* two taps, 11-bit weights */
    KIND_AREA_ENLARGE, /* the same with coordinates of its own */
    KIND_HALF,         /* 2 x 2 pixels become one */
    KIND_AREA_WHOLE,   /* k x l pixels become one */
    KIND_AREA,         /* pixels and parts of pixels become one, in float32 */
    KIND_CUBIC,        /* four taps, which are clipped one by one at the borders */
    KIND_LANCZOS,      /* eight of them */
};

struct resize_axis {
    uint32_t from, to;    /* px */
    double inverse, step; /* to / from, and 1 / that: NOT from / to */
    uint32_t whole;       /* pixels that become one, where that is a whole number; else 0 */
};
struct resize_axis resize_axis(uint32_t from, uint32_t to);
enum resize_kind resize_kind(const struct resize_job *job);

/* Source pixels [first, first + count) of which the pixels [begin, begin + length) of the
 * result are made. */
struct resize_span {
    uint32_t first, count;
};
struct resize_span resize_axis_span(const struct resize_axis *a, enum resize_kind kind,
                                    uint32_t begin, uint32_t length);

uint32_t nearest_at(const struct resize_axis *a, uint32_t at);

/* Pixels at and at + 1 (either may lie outside) by weights of 11 bits. */
struct linear_tap {
    int64_t at;
    int16_t weight, next_weight;
};
struct linear_tap linear_at(const struct resize_axis *a, enum resize_kind kind, uint32_t at);

/* The place at pixel `at` plus f; `at` may be outside. */
struct taps_place {
    int64_t at;
    float f;
};
struct taps_place taps_at(const struct resize_axis *a, uint32_t at);

/* Pixels first, first + 1, ... by weights: the first one's, the last one's, and that of all
 * between. */
struct area_taps {
    uint32_t first, count;
    float first_weight, inner_weight, last_weight;
};
struct area_taps area_at(const struct resize_axis *a, uint32_t at);
static inline float area_weight(const struct area_taps *t, uint32_t i)
{
    return i == 0 ? t->first_weight : i + 1 == t->count ? t->last_weight : t->inner_weight;
}
#endif
