/* codec/jpeg/encode/jpeg_encoder.h - pixels to a baseline JPEG with optimal Huffman tables, the
 * bytes that libjpeg writes with its slow integer DCT and its own optimization: every sample is
 * transformed once, and libjpeg does it the same way in more passes. */
#ifndef IMREC_CODEC_JPEG_ENCODE_JPEG_ENCODER_H
#define IMREC_CODEC_JPEG_ENCODE_JPEG_ENCODER_H

#include "base/buf.h"
#include "base/cpu.h"
#include "base/image.h"

struct jpeg_encoder; /* memory of one thread, used again */
struct stop;
struct symbol_spec;

struct jpeg_encoding {
    int quality;      /* 1..100 */
    bool tile;        /* a restart marker at the end of each row of MCUs */
    bool full_chroma; /* 4:4:4; else 4:2:0 */
    /* As of struct word_file. */
    const struct symbol_spec *shared;
    uint64_t shared_most;
};

IMREC_NODISCARD enum imrec_status
jpeg_encoder_new(struct jpeg_encoder **out, struct imrec_error *err);
void jpeg_encoder_free(struct jpeg_encoder *e); /* NULL is allowed */
void jpeg_encoder_drop(struct jpeg_encoder *e); /* what grew with an image; NULL is allowed */
size_t jpeg_encoder_memory(const struct jpeg_encoder *e);
/* Maximum bytes it holds for an image, besides the JPEG. */
uint64_t jpeg_encoder_claim(uint32_t width, uint32_t height, uint32_t channels, bool full_chroma);
void jpeg_encoder_use(struct jpeg_encoder *e, enum cpu_level level); /* for tests */

/* 1 or 3 channels, sides of 1..65535, into out->p[0..n). */
IMREC_NODISCARD enum imrec_status
jpeg_encode(struct jpeg_encoder *e, const struct imrec_image *image,
            const struct jpeg_encoding *how, const struct stop *stop, struct buf *out,
            struct imrec_error *err);
#endif
