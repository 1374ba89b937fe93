/* dataset/transfer/unfinished.h - the file OUT.unfinished, which is there while the shards of OUT
 * get their names: who finds it knows that some of them may be all that a killed run has left. */
#ifndef IMREC_DATASET_TRANSFER_UNFINISHED_H
#define IMREC_DATASET_TRANSFER_UNFINISHED_H

#include "imrec/error.h"

#include <stddef.h>

/* `stem`: the bytes of `output` that are OUT. All of `count` shards are about to get names. */
IMREC_NODISCARD enum imrec_status
unfinished_begin(const char *output, size_t stem, uint64_t count, struct imrec_error *err);
/* How many shards an earlier run has given names to; 0: it was not killed there. A file of this
 * name that says something else is IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
unfinished_read(const char *output, size_t stem, uint64_t *count, struct imrec_error *err);
/* All have their names, or none. One that stays does no harm next to a complete set. */
void unfinished_end(const char *output, size_t stem);
#endif
