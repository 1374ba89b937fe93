/* imrec/codec.h - decodes and encodes images in the caller's memory. */
#ifndef IMREC_CODEC_H
#define IMREC_CODEC_H

#include "imrec/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The contents of an image's header. */
struct imrec_image_info {
    const char *format;     /* "jpeg", "png", "gif", "webp", "tiff", "bmp"; static text */
    const char *kind;       /* JPEG: "baseline", "progressive", "arithmetic", ...; GIF or WebP with
                               several frames: "animation"; otherwise "" */
    uint32_t width, height; /* as stored, px */
    uint32_t channels;      /* as stored: 1 grey, 2 grey + alpha, 3, 4 */
    uint32_t bits;          /* per value, 1..16 */
    uint32_t orientation;   /* EXIF 1..8; 1 = upright */
    bool gzip;              /* wrapped in gzip */
    bool cmyk;              /* four inks, read as inverted, the way Adobe writes them */
    const char *sampling;   /* JPEG: "4:2:0", "4:4:4", ..., "grey", "other"; otherwise "" */
    bool restarts;          /* JPEG: it has restart markers, as --tile writes them */
};

/* Reads the header only. IMREC_ERR_UNSUPPORTED: this build does not read the format, which the
 * message names. IMREC_ERR_CORRUPT: the header is broken. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_image_info(const void *bytes, size_t n,
                                                             struct imrec_image_info *out,
                                                             struct imrec_error *err);

/* A decoder keeps its buffers between images; one thread at a time. */
struct imrec_decoder;
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_new(struct imrec_decoder **out, struct imrec_error *err);
IMREC_API void imrec_decoder_free(struct imrec_decoder *d); /* NULL is allowed */

/* Decodes to `channels` (1, 3 or 4; 0 = as stored, at most 4), upright if `auto_orient`. *out
 * points into the decoder's memory and is valid until its next call. An image of more than
 * max_pixels is IMREC_ERR_LIMIT before anything is decoded. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_decode(struct imrec_decoder *d, const void *bytes, size_t n, uint32_t channels,
                     bool auto_orient, int64_t max_pixels, struct imrec_image *out,
                     struct imrec_error *err);

/* The same for a part of the image, or a smaller one. denominator: 1, 2, 4 or 8; a JPEG is decoded
 * at that part of its size, rounded up, as libjpeg-turbo scales; other formats take 1 alone
 * (IMREC_ERR_UNSUPPORTED). region: of the image that all of it would be, turned and at that scale;
 * NULL: all of it. At full size a region costs what a region costs, and has the pixels of the
 * complete image; damage after its last row is not seen. One that is not inside the image is
 * IMREC_ERR_ARGUMENT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_decoder_decode_part(struct imrec_decoder *d, const void *bytes, size_t n,
                          const struct imrec_rect *region, uint32_t denominator, uint32_t channels,
                          bool auto_orient, int64_t max_pixels, struct imrec_image *out,
                          struct imrec_error *err);

/* Encodes as JPEG (quality 1..100, optimal Huffman tables) into the decoder's memory; *bytes is
 * valid until its next call. */
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
