/* codec/jpeg/tiled.h - images with restart markers in every row of MCUs: the intervals that a
 * region comes from are decoded at the same time. */
#ifndef IMREC_CODEC_JPEG_TILED_H
#define IMREC_CODEC_JPEG_TILED_H

#include "codec/jpeg/entropy.h"
#include "codec/jpeg/jpeg_planes.h"

struct tiled; /* buffers of one worker, kept between images */

struct tiled *tiled_new(void);    /* NULL: no memory */
void tiled_free(struct tiled *t); /* NULL is allowed */
void tiled_drop(struct tiled *t); /* its buffers; NULL is allowed */
void tiled_trim(struct tiled *t); /* after an image: those of a large one */
size_t tiled_memory(const struct tiled *t);

/* Bytes that decoding an image of this many bytes holds, maximum; the same on every processor. */
uint64_t tiled_claim(size_t bytes);

/* Are there kernels for this processor, does every row consist of whole intervals, and are there
 * enough of them in what `p` was measured for? */
bool tiled_suits(const struct frame *f, const struct jpeg_planes *p);

/* For tests: decodes so on every processor, and any number of intervals. Before the first decoder
 * is made. */
void tiled_use_always(bool yes);

/* Decodes what `p` was begun for, and gives its rows. The same intervals are read, and the same
 * defects are found, as MCU by MCU. */
enum baseline_result
tiled_decode(struct tiled *t, const struct frame *f, struct jpeg_planes *p, struct intervals v);
#endif
