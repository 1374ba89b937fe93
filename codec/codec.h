/* codec/codec.h - compressed image to pixels: what iterator and packer call.
 *
 * The caller says which region it needs, the codec how little it can decode: rows of the
 * region go to a sink while they are hot in the cache. */
#ifndef IMREC_CODEC_CODEC_H
#define IMREC_CODEC_CODEC_H

#include "base/bytes.h"
#include "base/image.h"
#include "imrec/codec.h"

struct codec; /* buffers of one worker, kept between images; imrec_decoder is this */

IMREC_NODISCARD enum imrec_status codec_new(struct codec **out, struct imrec_error *err);
void codec_free(struct codec *c); /* NULL is allowed */
/* Decoding and encoding from here on ends with IMREC_ERR_CANCELLED soon after *stop was asked: what
 * an image was till then counts for nothing. stop lives as long as the codec; NULL: nobody asks.
 */
struct stop;
void codec_stop_with(struct codec *c, const struct stop *stop);
size_t codec_memory(const struct codec *c); /* bytes held now */
/* Gives buffers back where all of them hold more than `most` bytes: those of a large image. What
 * was begun, decoded or encoded is gone. */
void codec_trim(struct codec *c, size_t most);

/* What becomes of alpha when 1 or 3 channels are asked for; with 4 it is delivered. */
enum codec_alpha {
    CODEC_ALPHA_DROP,  /* the colours as they are stored, as MXNet reads them */
    CODEC_ALPHA_WHITE, /* blended on white */
};

struct codec_limits {
    int64_t max_pixels;     /* claimed by the header; more is IMREC_ERR_LIMIT before decoding;
                               negative = no limit */
    uint32_t max_scans;     /* of a progressive JPEG; 0 = 100 */
    bool accept_truncated;  /* grey where the end is missing, counted as a warning */
    enum codec_alpha alpha; /* 0 = drop */
};

/* Begins an image: sniffs the format by its bytes (never by a name), reads the header, checks
 * limits. `image` must stay until the decode is over. gzip around a JPEG is unpacked here. */
IMREC_NODISCARD enum imrec_status
codec_begin(struct codec *c, struct bytes image, const struct codec_limits *limits,
            struct imrec_image_info *info, struct imrec_error *err);

/* Channels to decode an image to that keep what it has: 1, 3 or 4. */
uint32_t codec_channels(const struct imrec_image_info *i);

/* Begins an image that comes as pixels of 1, 3 or 4 channels: its format is "pixels", and what
 * follows is as for a decoded one. The view must stay until the decode is over. */
IMREC_NODISCARD enum imrec_status
codec_begin_pixels(struct codec *c, const struct imrec_image *pixels,
                   const struct codec_limits *limits, struct imrec_image_info *info,
                   struct imrec_error *err);

/* Maximum bytes that decoding all of the image begun at 1/denominator will hold, besides the file's
 * bytes and the output: coefficients of a JPEG of many scans, pixels that are not decoded row by
 * row, buffers of the libraries, and unpacked gzip data. It is the same on every processor. */
uint64_t codec_claim(const struct codec *c, uint32_t denominator);
/* And what codec_begin() itself holds, by the bytes alone: of gzip, and tags of a TIFF. */
uint64_t codec_begin_claim(struct bytes image);
/* How to encode a JPEG: optimal Huffman tables, no metadata but JFIF. */
struct codec_jpeg_how {
    int quality; /* 1..100 */
    bool tile;   /* a restart marker at the end of each row of MCUs: regions are decoded faster */
    bool full_chroma; /* 4:4:4; else 4:2:0 */
};

/* Bytes that encoding to JPEG or PNG takes at most, with the result. */
uint64_t codec_encode_jpeg_claim(uint32_t width, uint32_t height, uint32_t channels,
                                 struct codec_jpeg_how how);
/* A JPEG's own bytes at most, also of noise; not proven, but with a quarter to spare. */
uint64_t codec_encode_jpeg_most(uint32_t width, uint32_t height, struct codec_jpeg_how how);
uint64_t codec_encode_png_claim(uint32_t width, uint32_t height, uint32_t channels);
/* Bytes that codec_tile_jpeg() and codec_baseline_jpeg() hold of the image begun, with the result,
 * and the result's own; 0 of what they do not write again. They decline an image whose bytes with
 * standard tables are more than the second: no photograph is near to it. */
uint64_t codec_tile_jpeg_claim(const struct codec *c);
uint64_t codec_tile_jpeg_most(const struct codec *c);

/* One row of the region asked for: `row` is its first pixel; y counts from the region's top.
 * Rows come in order; after a fault in a JPEG they come again from 0, and the later ones count. */
typedef void codec_row_fn(void *context, uint32_t y, const uint8_t *row);

/* Decodes `region` (as stored, before EXIF orientation) of the image begun, to `channels`
 * (1, 3, 4): bit-identical to a full decode followed by a crop. *warnings (may be NULL) counts
 * what the decoder mended. Truncated data is IMREC_ERR_CORRUPT unless accepted; what follows the
 * region's last row is not looked at. After an error the rows given so far are worthless. */
IMREC_NODISCARD enum imrec_status
codec_decode_rows(struct codec *c, struct imrec_rect region, uint32_t channels, codec_row_fn *sink,
                  void *context, uint32_t *warnings, struct imrec_error *err);

/* The same into `out`, which grows to the region's size. */
IMREC_NODISCARD enum imrec_status codec_decode_image(struct codec *c, struct imrec_rect region,
                                                     uint32_t channels, struct image *out,
                                                     uint32_t *warnings, struct imrec_error *err);

/* Decodes all of a JPEG at 1/denominator (2, 4, 8) of its size, as the decoder scales; other
 * formats and denominator 1: full size. out's size tells. */
IMREC_NODISCARD enum imrec_status codec_decode_scaled(struct codec *c, uint32_t denominator,
                                                      uint32_t channels, struct image *out,
                                                      uint32_t *warnings, struct imrec_error *err);

/* The same of a region of the scaled image, which has (side + denominator - 1) / denominator px a
 * side; of other formats denominator is 1. */
IMREC_NODISCARD enum imrec_status
codec_decode_scaled_region(struct codec *c, uint32_t denominator, struct imrec_rect region,
                           uint32_t channels, struct image *out, uint32_t *warnings,
                           struct imrec_error *err);

/* Several images, decoded side by side: where their codes are the same that is faster than one
 * after the other (codec/jpeg/together.h). */
struct codec_wish {
    uint64_t id; /* the caller's, of the image */
    struct imrec_rect
        region; /* of the image scaled, as stored; empty: the image is decoded alone */
    uint32_t channels, denominator;
};
struct codec_together {
    /* The next image, which stays until done(): its id; and if `look`, begins it with
     * codec_begin(), and says what is going to be wanted of it. False: there are no more. */
    bool (*next)(void *context, bool look, struct codec_wish *out);
    /* Begins it again and decodes it, as if it were alone; what differs from the wish is only
     * slower. */
    void (*done)(void *context, uint64_t id);
    void *context;
};
/* Calls done() once for each image, in any order; next() has given no more than
 * CODEC_TOGETHER_MOST that are not done. */
enum { CODEC_TOGETHER_MOST = 16 };
void codec_decode_together(struct codec *c, const struct codec_together *source);
bool codec_suits_together(void);     /* it can be faster on this processor */
uint64_t codec_together_claim(void); /* bytes that it holds, maximum */

/* Whether the image begun can be decoded at another scale: it is a JPEG. */
bool codec_scales(const struct codec *c);
/* codec_claim() with what libjpeg-turbo needs for a region: all of the scaled image. */
uint64_t codec_scaled_region_claim(const struct codec *c, uint32_t denominator, uint32_t channels);

/* Decodes everything, to the end of the data, and throws the pixels away (a baseline JPEG: all
 * its entropy-coded data, without making pixels of it). For verifying. */
IMREC_NODISCARD enum imrec_status
codec_check(struct codec *c, uint32_t *warnings, struct imrec_error *err);

/* For tests and benchmarks: who decodes JPEG; and how many have been decoded, or checked, by our
 * own decoder. */
enum codec_jpeg {
    CODEC_JPEG_OURS,    /* plain ones: ours */
    CODEC_JPEG_LIBJPEG, /* libjpeg-turbo alone */
};
void codec_use_jpeg(struct codec *c, enum codec_jpeg decoder);
uint64_t codec_baseline_count(const struct codec *c);
uint64_t codec_together_count(const struct codec *c); /* side by side with others */
/* Pixels that our own decoder makes from here on are compared with libjpeg-turbo's, which decodes
 * the same region. Where they differ, or where it finds a fault, decoding is IMREC_ERR_UNSUPPORTED,
 * and the message says where. Of codec_decode_rows() and codec_decode_image(). */
void codec_self_check(struct codec *c, bool on);
uint64_t codec_self_check_count(const struct codec *c); /* images that were compared */
/* How often pixels have been asked for: a decode each, whatever it decoded of the image. */
uint64_t codec_decode_count(const struct codec *c);

/* Encoders: *out views the codec's memory until its next call. channels 1, 3 (PNG also 4). */
IMREC_NODISCARD enum imrec_status
codec_encode_jpeg(struct codec *c, const struct imrec_image *image, struct codec_jpeg_how how,
                  struct bytes *out, struct imrec_error *err);
/* The JPEG begun with restart markers at the end of each row of MCUs, in one sequential scan with
 * optimal tables; coefficients, markers of applications and comments are the same, and so are the
 * pixels. *done false: it is none, it is arithmetic, it has defects or coefficients that no 8-bit
 * samples have, or it cannot be one scan; then *out is the image. *out views the codec's memory
 * until its next call. */
IMREC_NODISCARD enum imrec_status
codec_tile_jpeg(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err);
/* The same without restart markers, of a progressive JPEG. *done false: it is none, or as above. */
IMREC_NODISCARD enum imrec_status
codec_baseline_jpeg(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err);
/* For benchmarks: the JPEG begun as other decoders are best at it: in one sequential scan, with
 * optimal tables, without restart markers. *done false: it is that already, or as above. */
IMREC_NODISCARD enum imrec_status
codec_plain_jpeg(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status codec_encode_png(struct codec *c, const struct imrec_image *image,
                                                   int level, struct bytes *out,
                                                   struct imrec_error *err);

/* Names of the formats of this build ("jpeg", "png", ...), NULL at the end. */
const char *const *codec_formats(void);
#endif
