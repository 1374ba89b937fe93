/* split/split_position.h - the place of a reader in its part, as JSON text. Pure. */
#ifndef IMREC_SPLIT_SPLIT_POSITION_H
#define IMREC_SPLIT_SPLIT_POSITION_H

#include "split/split_set.h"

struct split_place {
    uint64_t pass, chunk; /* chunk: of the pass; as many as there are: its end */
    uint64_t place;       /* in the chunk: split_chunk_place() */
};

/* *text is of imrec_realloc(). */
IMREC_NODISCARD enum imrec_status split_position_write(const struct split_set *s,
                                                       const struct split_place *at, char **text,
                                                       struct imrec_error *err);
/* The message names what is missing, wrong or different; *at is then as it was. */
IMREC_NODISCARD enum imrec_status split_position_read(const char *text, const struct split_set *s,
                                                      struct split_place *at,
                                                      struct imrec_error *err);
#endif
