/* codec/jpeg_encode.h - JPEGs whose Huffman tables are those of others. */
#ifndef IMREC_CODEC_JPEG_ENCODE_H
#define IMREC_CODEC_JPEG_ENCODE_H

#include "codec/codec.h"
#include "codec/jpeg/recode/jpeg_tables.h"

/* JPEGs that are written from here on have these tables in place of optimal ones of their own, but
 * for one that has a symbol that the tables lack, or that they make too large for what is claimed
 * of it. *tables lives as long as the codec; NULL: optimal ones. */
void codec_share_tables(struct codec *c, const struct jpeg_tables *tables);

/* Adds the symbols of a JPEG that the codec has written; what is another one adds nothing. */
IMREC_NODISCARD enum imrec_status codec_count_symbols(struct codec *c, struct bytes jpeg,
                                                      struct jpeg_counts *counts,
                                                      struct imrec_error *err);
/* Maximum bytes that this holds of an image, besides the JPEG. */
uint64_t codec_count_claim(uint32_t width, uint32_t height);
#endif
