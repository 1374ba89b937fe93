/* iter/minibatch/gather.h - the sequences of a minibatch out of blocks. Private to this folder. */
#ifndef IMREC_ITER_MINIBATCH_GATHER_H
#define IMREC_ITER_MINIBATCH_GATHER_H

#include "iter/minibatch/source_state.h"

/* Has the blocks loaded that the timeline's present group and those ahead need, and before them
 * those of item[0..n). */
IMREC_NODISCARD enum imrec_status gather_want(struct imrec_minibatch_source *s,
                                              const struct timeline_item *item, size_t stride,
                                              uint64_t n, struct imrec_error *err);

/* A sequence as it goes into a minibatch. */
struct gather_item {
    const struct timeline_item *item;
    struct pack_piece piece;
};
/* Fills views[stream * room + at] for all streams, and its id. *empty: no stream has a sample of
 * it. Charges the errors of blocks that are met for the first time. */
IMREC_NODISCARD enum imrec_status
gather_one(struct imrec_minibatch_source *s, const struct gather_item *g,
           struct sequence_view *views, uint64_t room, uint64_t at, uint64_t *id, bool *empty,
           struct imrec_error *err);
#endif
