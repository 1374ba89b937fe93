/* codec/jpeg/baseline.h - a decoder for plain JPEG that knows no mending: it gives the pixels
 * of libjpeg-turbo, bit for bit, or declines.
 *
 * Plain is: 8-bit Huffman coding, sequential or progressive; grey, YCbCr, RGB, CMYK or YCCK;
 * components sampled in whole fractions of the largest one's factors; every table and every bit as
 * the standard has them, up to an end marker. Declining says nothing about the image: another
 * decoder judges it, from the start. */
#ifndef IMREC_CODEC_JPEG_BASELINE_H
#define IMREC_CODEC_JPEG_BASELINE_H

#include "base/bytes.h"
#include "base/stop.h"
#include "imrec/image.h"

struct baseline; /* buffers of one worker, kept between images */

enum baseline_result { BASELINE_DONE, BASELINE_DECLINED, BASELINE_NO_MEMORY };

typedef void baseline_row_fn(void *context, uint32_t y, const uint8_t *row);

/* What is wanted of an image. */
struct baseline_request {
    struct imrec_rect region; /* inside the image, scaled, not empty */
    uint32_t channels;        /* 1: the Y plane, or Y of RGB; 3: RGB; 4: CMYK, of such images */
    uint32_t denominator;     /* 1; or 2, 4, 8: of the image scaled, where the region is meant */
    baseline_row_fn *sink;    /* NULL: entropy-decode only; y counts from the region's top */
    void *context;
    uint8_t *direct; /* NULL, or memory for all rows, `stride` bytes apart: RGB rows may be
                        written there directly, without a call of the sink */
    size_t stride;
    const struct stop *stop; /* asked: it declines */
};

struct baseline *baseline_new(void);              /* NULL: no memory */
void baseline_free(struct baseline *b);           /* NULL is allowed */
void baseline_drop(struct baseline *b);           /* its buffers; NULL is allowed */
size_t baseline_memory(const struct baseline *b); /* bytes held now; 0 for NULL */

/* Bytes that decoding an image of this many bytes and columns, with `down` rows of blocks of all
 * components in an MCU, holds, at most, besides as many as its coefficients take, where it has
 * several scans (else 0): those are given back before another decoder has them. */
uint64_t
baseline_claim(size_t bytes, uint32_t width, uint32_t down, bool restarts, uint64_t coefficients);

struct together;
/* To decode images side by side: codec/jpeg/together.h. Within its done() baseline_decode() has
 * little left to do. NULL: no memory, or b is NULL. */
struct together *baseline_together(struct baseline *b);
uint64_t
baseline_together_count(const struct baseline *b); /* images that it was; NULL is allowed */

/* Decodes a region of `image`, whose size the caller has read out of it. Rows that were given
 * before it declined may be wrong and are given again by who decodes then. An image that is
 * decoded to its last row has been read, and found in order, up to its end marker; but of restart
 * intervals, those that nothing of the region comes from are passed, and so is the rest of one
 * after the last MCU that is wanted. */
enum baseline_result baseline_decode(struct baseline *b, struct bytes image, uint32_t width,
                                     uint32_t height, const struct baseline_request *request);
#endif
