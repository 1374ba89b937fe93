/* dataset/transfer/old_shards.h - files that are called as shards of a set that is to be written.
 */
#ifndef IMREC_DATASET_TRANSFER_OLD_SHARDS_H
#define IMREC_DATASET_TRANSFER_OLD_SHARDS_H

#include "formats/set/set_names.h"

struct old_shards {
    const char *output;              /* OUT.tar */
    size_t stem;                     /* bytes of OUT */
    const enum set_file *side_files; /* SET_REC at the end */
    uint64_t count;                  /* of the set; 0: not known yet */
};

/* Removes the temporary files OUT-00003-of-00010.tar.part that an interrupted run has left, of any
 * number of shards. Refuses finished shards of another number, among which the new ones would be,
 * and a name that a set of im2rec has. */
IMREC_NODISCARD enum imrec_status
old_shards_clear(const struct old_shards *o, struct imrec_error *err);
/* The error of a finished shard, `name`, that is of another number of shards than OUT will be. */
IMREC_NODISCARD enum imrec_status
old_shards_refuse(const char *name, const char *output, struct imrec_error *err);
#endif
