/* im2rec/shared_tables.h - the Huffman tables that the JPEGs of a set share, made of a sample of
 * its images. */
#ifndef IMREC_IM2REC_SHARED_TABLES_H
#define IMREC_IM2REC_SHARED_TABLES_H

#include "codec/jpeg_encode.h"
#include "im2rec/pack_run.h"

#define SHARED_TABLES_SAMPLE 256u /* images, spread evenly over the list */

/* Of what the run is to pack, which has not begun; its job begins with the first image afterwards.
 * Images that fail are left to the packing to report. */
IMREC_NODISCARD enum imrec_status
shared_tables_sample(const struct pack_run *r, struct jpeg_tables *out, struct imrec_error *err);
#endif
