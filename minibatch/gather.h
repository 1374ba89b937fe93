/* minibatch/gather.h - the blocks that a minibatch needs. Private to this folder. */
#ifndef IMREC_MINIBATCH_GATHER_H
#define IMREC_MINIBATCH_GATHER_H

#include "minibatch/source_state.h"

/* Has the blocks loaded that the timeline's present group and those ahead need, and before them
 * those of item[0..n). */
IMREC_NODISCARD enum imrec_status gather_want(struct imrec_minibatch_source *s,
                                              const struct timeline_item *item, size_t stride,
                                              uint64_t n, struct imrec_error *err);

/* Where a sequence is, in one corpus. */
struct gather_spot {
    const struct block *block;
    struct joint_place at;
    uint32_t place; /* in what is left of the block */
    bool found;     /* false: it was dropped */
};

/* Before the first sequence of a minibatch. */
void gather_begin(struct imrec_minibatch_source *s);
/* Has the blocks of a sequence loaded, and charges their errors where they are met for the first
 * time. spot: one a corpus. Gives the sequence's id. */
IMREC_NODISCARD enum imrec_status
gather_locate(struct imrec_minibatch_source *s, const struct timeline_item *item,
              struct gather_spot *spot, uint64_t *id, struct imrec_error *err);
#endif
