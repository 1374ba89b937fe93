/* minibatch/plan/truncated_plan.h - sequences cut into pieces, for truncated backpropagation
 * through time.
 *
 * A minibatch of `size` samples has size / truncation slots, at least one. A slot is refilled, one
 * sequence after the other, while it holds no more than `truncation` samples, and gives each
 * minibatch that many, or what it has. So a long sequence continues in the same slot of the next
 * minibatch, and a slot has a gap only when the data end.
 *
 * Global ranks fill all slots and take their share of them. A local rank has slots of its own, its
 * share of their number, and fills them with its own sequences: chunks by their place in the
 * sweep's order where the order is random, else sequences by number. */
#ifndef IMREC_MINIBATCH_PLAN_TRUNCATED_PLAN_H
#define IMREC_MINIBATCH_PLAN_TRUNCATED_PLAN_H

#include "minibatch/plan/minibatch_plan.h"

struct truncated_piece {
    struct timeline_item item;
    uint32_t begin, count; /* samples of the item */
    uint32_t row, column;  /* the place of the first one: the row'th slot of this rank */
};

/* A sequence that has been taken from the timeline and is not used up. */
struct truncated_held {
    uint32_t slot, done; /* samples of it that were given */
    uint64_t sweep, number;
};

struct truncated_slot {
    struct held_item {
        struct timeline_item item;
        uint32_t done;
    } * item;
    uint32_t items;
    uint64_t room;
    uint64_t samples; /* left of them */
};

struct truncated_plan {              /* begin with .o and .line */
    struct minibatch_plan_options o; /* slots are dealt out: slot s is of rank s mod ranks */
    struct timeline *line;           /* borrowed */
    struct truncated_slot *slot;
    uint32_t slots;             /* that there is memory of */
    uint32_t live;              /* the first ones: they may hold something */
    uint64_t given;             /* samples: of the timeline so far, but for what the slots hold */
    struct minibatch_mark mark; /* after what the slots hold; without labels and epochs */

    struct truncated_piece *piece; /* of the minibatch planned last, this rank's */
    uint64_t pieces, piece_room;
    uint32_t rows;
    uint64_t samples; /* of it; global: all ranks' */
    uint64_t epoch, first_sweep;
    bool sweep_end; /* the last piece of a sweep is in it, of this rank or of one before it */
    bool epoch_end;
    bool over; /* nothing comes after it */
};

void truncated_plan_free(struct truncated_plan *p);
/* Plans the next minibatch of `size` samples. IMREC_END: there is none. */
IMREC_NODISCARD enum imrec_status
truncated_plan_next(struct truncated_plan *p, uint64_t size, struct imrec_error *err);
uint64_t truncated_plan_epoch(const struct truncated_plan *p);

/* What the slots hold, in their order, into memory of imrec_realloc() that grows. */
IMREC_NODISCARD enum imrec_status truncated_plan_held(const struct truncated_plan *p,
                                                      struct truncated_held **out, uint64_t *room,
                                                      uint64_t *count, struct imrec_error *err);
/* Restores the plan at a mark: sweep, number, position of the next sequence. */
IMREC_NODISCARD enum imrec_status
truncated_plan_seek(struct truncated_plan *p, const struct minibatch_mark *mark,
                    const struct truncated_held *held, uint64_t count, struct imrec_error *err);
#endif
