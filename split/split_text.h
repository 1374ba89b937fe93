/* split/split_text.h - chunks of lines.
 *
 * A line is in the chunk that has the byte before it; a file's first one in the first chunk. So a
 * chunk begins after the first line end at or after its first byte, and ends where the next one
 * begins. */
#ifndef IMREC_SPLIT_SPLIT_TEXT_H
#define IMREC_SPLIT_SPLIT_TEXT_H

#include "split/split_chunk.h"

IMREC_NODISCARD enum imrec_status split_text_load(struct split_chunk *c, const struct split_set *s,
                                                  struct unit_range cell, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status split_text_next(struct split_chunk *c, const struct split_set *s,
                                                  struct imrec_split_bytes *out,
                                                  struct imrec_error *err);
IMREC_NODISCARD enum imrec_status split_text_rest(struct split_chunk *c, const struct split_set *s,
                                                  struct imrec_split_bytes *out,
                                                  struct imrec_error *err);
/* Whether a line begins at p[at], or the chunk ends there. */
bool split_text_is_begin(const struct split_chunk *c, uint64_t at);
#endif
