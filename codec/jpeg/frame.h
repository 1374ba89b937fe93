/* codec/jpeg/frame.h - what the headers of a plain JPEG say. */
#ifndef IMREC_CODEC_JPEG_FRAME_H
#define IMREC_CODEC_JPEG_FRAME_H

#include "base/bytes.h"
#include "codec/jpeg/huffman.h"

enum {
    MOST_COMPONENTS = 4,
    MOST_TABLES = 4,
    MOST_BLOCKS = 10, /* of an MCU, by the standard */
    BLOCK = 8,
};

/* What the components are. */
enum frame_colour { COLOUR_GREY, COLOUR_YCC, COLOUR_RGB, COLOUR_CMYK, COLOUR_YCCK };

/* A scan, where there are several. */
struct frame_scan {
    uint32_t components;
    uint8_t component[MOST_COMPONENTS], dc_of[MOST_COMPONENTS], ac_of[MOST_COMPONENTS];
    uint32_t from, end; /* zigzag indexes, from <= k <= end */
    uint32_t high, low; /* bits: known before, and after; high 0 = the first scan of these */
};

struct frame {
    uint32_t width, height;
    uint32_t components; /* 1, 3 or 4 */
    enum frame_colour colour;
    uint32_t h, v;                                          /* an MCU has 8h x 8v pixels */
    uint8_t across[MOST_COMPONENTS], down[MOST_COMPONENTS]; /* blocks of an MCU; 1 x 1 of grey */
    uint32_t grey_rows; /* of blocks that libjpeg reads at once; 1 unless grey claims more */
    uint32_t restart;   /* MCUs between restart markers; 0 = none */
    uint8_t quant_of[MOST_COMPONENTS], dc_of[MOST_COMPONENTS], ac_of[MOST_COMPONENTS];
    size_t entropy; /* where the entropy-coded data begin */
    bool progressive;
    bool has_scans;         /* several: it is progressive, or components have scans of their own */
    struct frame_scan scan; /* of the data there, if so */
    uint8_t id[MOST_COMPONENTS];
    bool jfif, adobe;
    uint8_t transform; /* Adobe's */

    uint32_t has_quant, has_dc, has_ac;         /* bit i: table i is there */
    uint16_t quant[MOST_TABLES][BLOCK * BLOCK]; /* natural order */
    struct huffman_spec dc[MOST_TABLES], ac[MOST_TABLES];
};

/* Up to the first scan. False: not plain. */
bool frame_read(struct frame *p, struct bytes image);
/* Where there are several: from byte `at`, where a marker is, to the next scan, or *is_end. */
bool frame_next_scan(struct frame *p, struct bytes image, size_t at, bool *is_end);
#endif
