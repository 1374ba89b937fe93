/* formats/cbf/chunk_work.h - between the steps of reading a chunk: cbf_chunk.c walks it,
 * cbf_rewrite.c moves what cannot stay as it is. */
#ifndef IMREC_FORMATS_CBF_CHUNK_WORK_H
#define IMREC_FORMATS_CBF_CHUNK_WORK_H

#include "formats/cbf/cbf_chunk.h"

/* Makes *p hold `count` items of `size` bytes; what it held is lost, and *cap counts bytes. */
IMREC_NODISCARD enum imrec_status
cbf_reserve(void **p, size_t *cap, uint64_t count, size_t size, struct imrec_error *err);

/* Takes dropped sequences out of the view, and gives every stream the type that is wanted. */
IMREC_NODISCARD enum imrec_status cbf_rewrite(const struct cbf_header *h,
                                              const struct cbf_reading *how, struct cbf_chunk *c,
                                              struct imrec_error *err);
#endif
