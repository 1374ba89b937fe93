/* codec/jpeg/lane_blocks.h - what lanes decode of an image, and samples of what they have
 * decoded. */
#ifndef IMREC_CODEC_JPEG_LANE_BLOCKS_H
#define IMREC_CODEC_JPEG_LANE_BLOCKS_H

#include "codec/jpeg/jpeg_planes.h"
#include "codec/jpeg/lanes.h"

/* Has it MCUs that lanes know, and tables that both kinds of chroma share? */
bool lanes_suit(const struct frame *f);
uint32_t mcu_blocks(const struct frame *f); /* of such an image's MCU */
enum lane_mcu lane_mcu_of(const struct frame *f);
/* Are these the tables of such an image? */
bool lanes_have_tables(const struct lane_tables *t, const struct frame *f);
/* The tables of such an image. False: codes that make no sense. */
bool lanes_make_tables(struct lane_tables *t, const struct frame *f);

/* Columns of MCUs of row `y` that something is wanted of. */
struct span wanted_columns(const struct frame *f, const struct jpeg_planes *p, uint32_t y);
/* Restart intervals of a row, which are wholly in it, that these columns lie in. */
struct span wanted_intervals(const struct frame *f, struct span columns);

/* Where the blocks of one place of the MCUs of a row go. */
struct block_target {
    const uint16_t *quant;
    uint32_t component;
    struct span mcus; /* that are wanted of the row */
    uint8_t *out;     /* of the first of these */
    size_t stride, step;
};

/* Of MCU row `y`: target[mcu_blocks()]. */
void lane_blocks_aim(const struct frame *f, const struct jpeg_planes *p, uint32_t y,
                     struct block_target *target);

/* MCUs of a row that a piece has. */
struct strip {
    uint32_t row, first, mcus;
};

/* Samples of a strip's blocks, which are zeros afterwards. dc: predictions of the components before
 * and after it. False: a DC coefficient is too large. */
bool lane_blocks_transform(const struct frame *f, const struct jpeg_planes *p,
                           const struct block_target *target, const struct strip *s, int32_t *dc,
                           int16_t *zigzag);
#endif
