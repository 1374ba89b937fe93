/* codec/jpeg_decode.h - what codec.c needs of JPEG beyond the format table. */
#ifndef IMREC_CODEC_JPEG_DECODE_H
#define IMREC_CODEC_JPEG_DECODE_H

#include "codec/format.h"

/* The whole image at 1/denominator into *out. */
IMREC_NODISCARD enum imrec_status jpeg_decode_whole(struct codec *c, uint32_t denominator,
                                                    uint32_t channels, struct image *out,
                                                    uint32_t *warnings, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
jpeg_check(struct codec *c, uint32_t *warnings, struct imrec_error *err);

/* jpeg_writer.c */
struct jpeg_writer;
void jpeg_writer_free(struct jpeg_writer *w); /* NULL is allowed */
void jpeg_writer_drop(struct jpeg_writer *w); /* its buffers; NULL is allowed */
size_t jpeg_writer_memory(const struct jpeg_writer *w);
#endif
