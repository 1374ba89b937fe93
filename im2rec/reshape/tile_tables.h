/* im2rec/reshape/tile_tables.h - the Huffman tables that the JPEGs of a new set share, made of a
 * sample of the records that are coded again for it. */
#ifndef IMREC_IM2REC_RESHAPE_TILE_TABLES_H
#define IMREC_IM2REC_RESHAPE_TILE_TABLES_H

#include "codec/jpeg_encode.h"
#include "im2rec/reshape/reshape.h"

/* Records spread evenly over all sources, which are read once for it. What is lost or cannot be
 * coded again is left to the run to report. `memory`: an image that needs more is not of them. */
IMREC_NODISCARD enum imrec_status
tile_tables_sample(const struct reshape_job *j, const struct imrec_reshape_options *o,
                   uint64_t memory, struct jpeg_tables *out, struct imrec_error *err);
#endif
