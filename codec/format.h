/* codec/format.h - what a format gives to codec.c, and what it gets. */
#ifndef IMREC_CODEC_FORMAT_H
#define IMREC_CODEC_FORMAT_H

#include "base/buf.h"
#include "base/stop.h"
#include "codec/codec.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/mask_png.h"

struct conversion;

/* One decode: the region asked for, and where its rows go. */
struct rows {
    struct imrec_rect region;
    uint32_t channels;
    uint32_t
        denominator; /* of a JPEG scaled by 1/2, 1/4, 1/8, of which the region is; 0: it is not */
    codec_row_fn *sink; /* NULL: nobody wants the pixels */
    void *context;
    const struct imrec_image *direct; /* NULL, or where the sink copies rows to: a decoder that can
                                         may write them there itself */
    uint8_t *line;                    /* one converted row: region.width * 4 bytes */
    uint32_t warnings;                /* what was mended */
};

struct format {
    const char *name;
    const char *needs; /* the library that a build may lack; NULL = none, or never read */
    bool (*matches)(struct bytes image);
    /* Fills c->info. NULL: not built in. */
    enum imrec_status (*head)(struct codec *c, struct imrec_error *err);
    enum imrec_status (*decode)(struct codec *c, struct rows *rows, struct imrec_error *err);
    /* Bytes that decoding holds besides the output and a converted row; NULL: none. */
    uint64_t (*claim)(const struct codec *c, uint32_t denominator);
};

extern const struct format codec_jpeg, codec_png, codec_gif, codec_webp, codec_tiff, codec_bmp;
extern const struct format codec_pixels; /* no bytes show it: codec_begin_pixels() */

struct codec {
    struct codec_limits limits;
    const struct format *format; /* of the image begun, NULL = none */
    struct bytes image;
    struct imrec_image pixels; /* instead, of codec_pixels */
    struct imrec_image_info info;
    struct jpeg_head head; /* of a JPEG */
    const struct stop *stop;
    const struct jpeg_tables *tables; /* codec_share_tables() */
    uint64_t held;                    /* what head() has found out for claim(), by its own rule */

    enum codec_jpeg decoder; /* codec_use_jpeg() */
    uint64_t baseline_count; /* codec_baseline_count() */
    uint64_t decode_count;   /* codec_decode_count() */
    bool self_check;         /* codec_self_check() */
    uint64_t self_checked;   /* codec_self_check_count() */

    /* kept from image to image */
    struct jpeg_reader *jpeg; /* made when first needed, like the next three */
    struct baseline *baseline;
    struct jpeg_writer *writer;
    struct jpeg_encoder *encoder;
    struct buf unpacked;       /* out of gzip */
    struct buf line;           /* rows.line */
    struct buf scratch;        /* rows as the format stores them */
    struct image whole;        /* images that cannot be decoded row by row */
    struct image out, upright; /* what the public decoder hands out */
    struct mask mask;          /* likewise */
    struct buf encoded;
    struct buf hashes; /* of rows that are compared */
    void *png;         /* a PNG that libspng has encoded */
};

/* Room for `bytes` in b, contents undefined. */
IMREC_NODISCARD enum imrec_status
codec_reserve(struct buf *b, size_t bytes, struct imrec_error *err);
/* The same in c->whole: c->info's size, `bytes_per_pixel` each. */
IMREC_NODISCARD enum imrec_status
codec_reserve_whole(struct codec *c, uint32_t bytes_per_pixel, struct imrec_error *err);

/* Hands row `y` of the image, all its columns, to the sink if the region holds it. */
void rows_give(struct rows *r, const struct conversion *how, const uint8_t *row, uint32_t y);
/* All rows of an image in memory. */
void rows_give_all(struct rows *r, const struct conversion *how, const struct imrec_image *image);

/* "the data ends": IMREC_ERR_CORRUPT, or IMREC_OK and a warning where that is accepted. */
IMREC_NODISCARD enum imrec_status
codec_truncated(const struct codec *c, struct rows *r, uint32_t y, struct imrec_error *err);

/* self_check.c: rows to `sink` that note what passes, for self_check_compare() afterwards; or NULL
 * as sink, where rows are written to an image. */
struct self_check {
    codec_row_fn *sink;
    void *context;
    size_t bytes;                   /* of a row */
    uint64_t *hash;                 /* of each */
    const struct imrec_image *made; /* instead */
    bool differs;
    uint32_t row; /* the first that does */
};
void self_check_row(void *self_check, uint32_t y, const uint8_t *row);
void self_check_compare_row(void *self_check, uint32_t y, const uint8_t *row);

/* tiff.c: what reading its first page's tags takes; 0: it is none */
uint64_t tiff_begin_claim(struct bytes image);
/* gzip.c */
uint64_t codec_gunzip_limit(size_t packed); /* maximum bytes after unpacking */
IMREC_NODISCARD enum imrec_status codec_gunzip(struct bytes packed, bool accept_truncated,
                                               const struct stop *stop, struct buf *out,
                                               struct imrec_error *err);
#endif
