/* augment/colour/weigh.h - a weighted sum of images. */
#ifndef IMREC_AUGMENT_COLOUR_WEIGH_H
#define IMREC_AUGMENT_COLOUR_WEIGH_H

#include <stddef.h>
#include <stdint.h>

/* sum += share * px, of n values; float32, with a rounding after each of the two. */
typedef void weigh_fn(float share, const uint8_t *px, float *sum, size_t n);
weigh_fn weigh_scalar, weigh_avx2, weigh_neon;
#endif
