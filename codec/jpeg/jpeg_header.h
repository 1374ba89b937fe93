/* codec/jpeg/jpeg_header.h - what a JPEG's markers say, read without a decoder. */
#ifndef IMREC_CODEC_JPEG_JPEG_HEADER_H
#define IMREC_CODEC_JPEG_JPEG_HEADER_H

#include "base/bytes.h"
#include "imrec/error.h"

enum { JPEG_MAX_COMPONENTS = 4, JPEG_MAX_SIDE = 65500 };

struct jpeg_head {
    uint32_t width, height;
    uint8_t frame; /* the SOF marker: 0xC0 baseline, 0xC2 progressive, 0xC9 arithmetic, ... */
    uint8_t precision;
    uint8_t components; /* 1, 3 or 4 */
    uint8_t id[JPEG_MAX_COMPONENTS], h[JPEG_MAX_COMPONENTS], v[JPEG_MAX_COMPONENTS];
    uint8_t max_h, max_v;
    bool adobe, jfif;
    uint8_t adobe_transform;
    uint8_t orientation; /* EXIF 1..8 */
    bool restarts;       /* there are restart markers, at the first scan */
    bool many_scans;     /* progressive, or components in scans of their own: needs coefficients */
    uint32_t scans;      /* 1 where many_scans is false: what follows is not looked at */
    size_t usable;       /* bytes before a segment after some scan that the data end in; else all */
    uint8_t scanned;     /* bit i: component i is in some scan */
    /* bit i: table i is defined before the first scan / only after it */
    uint8_t quant, dc, ac;
    uint8_t late_quant, late_dc, late_ac;
};

/* Walks the markers of image[0..n) up to the first scan, or through all of them where there
 * are many. IMREC_ERR_CORRUPT: no image can come of it. IMREC_ERR_UNSUPPORTED: a kind that no
 * 8-bit decoder reads. IMREC_ERR_LIMIT: more than max_scans scans. No length is trusted. */
IMREC_NODISCARD enum imrec_status jpeg_head_read(struct bytes image, uint32_t max_scans,
                                                 struct jpeg_head *out, struct imrec_error *err);

bool jpeg_head_progressive(const struct jpeg_head *h);
bool jpeg_head_arithmetic(const struct jpeg_head *h);
const char *jpeg_head_kind(const struct jpeg_head *h);     /* "baseline", "progressive", ... */
const char *jpeg_head_sampling(const struct jpeg_head *h); /* "4:2:0", "grey", "other", ... */
#endif
