/* minibatch/plan/minibatch_plan.h - which sequences a minibatch is made of.
 *
 * A minibatch takes the sequences that come while their samples fit into its size; the first is
 * always taken, so that one which is larger than the size comes alone. It runs on over the end
 * of a sweep, not over that of an epoch: a sequence that crosses the end of an epoch belongs to the
 * epoch in which it begins. */
#ifndef IMREC_MINIBATCH_PLAN_MINIBATCH_PLAN_H
#define IMREC_MINIBATCH_PLAN_MINIBATCH_PLAN_H

#include "imrec/minibatch.h"
#include "minibatch/plan/timeline.h"

struct minibatch_plan_options {
    uint32_t truncation;              /* samples of a piece: truncated_plan.h */
    uint64_t epoch_size;              /* label samples; UINT64_MAX: one epoch for ever */
    uint64_t max_sweeps, max_samples; /* 0: no end */
    uint32_t ranks, rank;
    enum imrec_rank_mode mode;
    bool randomized; /* local: chunks are dealt out, else sequences */
    /* Label samples of a sequence; NULL: its length on the timeline. */
    enum imrec_status (*labels)(void *context, const struct timeline_item *item, uint64_t *out,
                                struct imrec_error *err);
    void *context;
};

/* The place of a source, as a position holds it. */
struct minibatch_mark {
    uint64_t sweep, number;       /* of the sequence that comes */
    uint64_t position;            /* samples before it */
    uint64_t labels;              /* label samples before it */
    uint64_t epoch, epoch_labels; /* that it belongs to; label samples before this epoch */
};

struct minibatch_plan { /* begin with .o and .line */
    struct minibatch_plan_options o;
    struct timeline *line; /* borrowed */
    struct minibatch_mark mark;

    struct timeline_item *item; /* this rank's part of the minibatch planned last */
    uint64_t items, room;
    uint64_t taken;        /* sequences of it, all ranks */
    uint64_t samples;      /* of it: global: all ranks'; local: this rank's */
    uint64_t epoch, sweep; /* it began in */
    bool sweep_end, epoch_end;
};

/* Whether the source ends before this sequence. */
bool minibatch_is_over(const struct minibatch_plan_options *o, const struct timeline_item *item);
/* Whether this rank has it, where ranks are local. */
bool minibatch_is_local(const struct minibatch_plan_options *o, const struct timeline_item *item);
/* Moves past a sequence, which timeline_peek() returned; labels stay as they are. */
void minibatch_mark_step(struct minibatch_mark *m, struct timeline *line,
                         const struct timeline_item *item);
/* Goes to a mark, whose position has to be that of its sequence. */
IMREC_NODISCARD enum imrec_status
minibatch_mark_seek(const struct minibatch_mark *m, struct timeline *line, struct imrec_error *err);

void minibatch_plan_free(struct minibatch_plan *p);

/* Plans the next minibatch of `size` samples. IMREC_END: there is none. */
IMREC_NODISCARD enum imrec_status
minibatch_plan_next(struct minibatch_plan *p, uint64_t size, struct imrec_error *err);
/* The epoch that the next minibatch belongs to: what a schedule of sizes asks for. */
uint64_t minibatch_plan_epoch(const struct minibatch_plan *p);
IMREC_NODISCARD enum imrec_status minibatch_plan_seek(struct minibatch_plan *p,
                                                      const struct minibatch_mark *mark,
                                                      struct imrec_error *err);
#endif
