/* imrec/codec.h - compressed images to pixels and back, on the caller's own bytes. */
#ifndef IMREC_CODEC_H
#define IMREC_CODEC_H

#include "imrec/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an image's header says. */
struct imrec_image_info {
    const char *format;     /* "jpeg", "png", "gif", "webp", "tiff", "bmp"; static text */
    const char *kind;       /* of a JPEG: "baseline", "progressive", "arithmetic", ...; of a GIF or
                               WebP whose first frame is read of several: "animation"; else "" */
    uint32_t width, height; /* as stored, px */
    uint32_t channels;      /* as stored: 1 grey, 2 grey + alpha, 3, 4 */
    uint32_t bits;          /* of a value, 1..16 */
    uint32_t orientation;   /* EXIF 1..8; 1 = upright */
    bool gzip;              /* wrapped in gzip */
    bool cmyk;              /* four inks: read as inverted, the way Adobe writes them */
    const char *sampling;   /* of a JPEG: "4:2:0", "4:4:4", ..., "grey", "other"; else "" */
};

/* Reads the header only. IMREC_ERR_UNSUPPORTED: not a format of this build, which the message
 * names; IMREC_ERR_CORRUPT: the header is broken. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_image_info(const void *bytes, size_t n,
                                                             struct imrec_image_info *out,
                                                             struct imrec_error *err);

/* A decoder keeps its buffers between images; one thread at a time. */
struct imrec_decoder;
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_new(struct imrec_decoder **out, struct imrec_error *err);
IMREC_API void imrec_decoder_free(struct imrec_decoder *d); /* NULL is allowed */

/* Decodes to `channels` (1, 3 or 4; 0 = as stored, at most 4), upright if `auto_orient`. *out
 * views the decoder's memory until its next call. Images of more than max_pixels are
 * IMREC_ERR_LIMIT before anything is decoded. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_decode(struct imrec_decoder *d, const void *bytes, size_t n, uint32_t channels,
                     bool auto_orient, int64_t max_pixels, struct imrec_image *out,
                     struct imrec_error *err);

/* The yardstick of benchmarks: plain libjpeg-turbo, whole image, to RGB, nothing else. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_decode_plain(struct imrec_decoder *d, const void *bytes, size_t n,
                           struct imrec_image *out, struct imrec_error *err);

/* Encodes as JPEG (quality 1..100, optimal Huffman tables) into memory of the decoder's;
 * *bytes is valid until its next call. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_encode_jpeg(struct imrec_decoder *d, const struct imrec_image *image, int quality,
                          const void **bytes, size_t *n, struct imrec_error *err);
/* The same as PNG; channels 1, 3 or 4, level 1 (fast) to 9 (small). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_encode_png(struct imrec_decoder *d, const struct imrec_image *image, int level,
                         const void **bytes, size_t *n, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
