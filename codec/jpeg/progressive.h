/* codec/jpeg/progressive.h - Huffman-coded images of several scans: all of them to coefficients,
 * then the rows of a region. */
#ifndef IMREC_CODEC_JPEG_PROGRESSIVE_H
#define IMREC_CODEC_JPEG_PROGRESSIVE_H

#include "codec/jpeg/codes.h"
#include "codec/jpeg/jpeg_planes.h"

struct progressive; /* buffers of one worker, kept between images */

struct progressive *progressive_new(void);    /* NULL: no memory */
void progressive_free(struct progressive *d); /* NULL is allowed */
void progressive_drop(struct progressive *d); /* its buffers; NULL is allowed */
size_t progressive_memory(const struct progressive *d);

/* Bytes that decoding an image of this many bytes holds, maximum, besides what its coefficients
 * take: masks, and what is kept of them afterwards. */
uint64_t progressive_claim(size_t bytes, uint64_t coefficients);

/* Decodes what `p` was begun for, of an image whose first scan `f` has been read up to, and gives
 * its rows. All scans are read to the image's end. It declines whatever libjpeg would warn of or
 * smooth: coefficients that no scan has, or not to their last bit; bits for ones that are known
 * already; defects in the data. */
enum baseline_result progressive_decode(struct progressive *d, struct codes *codes, struct frame *f,
                                        struct jpeg_planes *p, struct bytes image);
#endif
