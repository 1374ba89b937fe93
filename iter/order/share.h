/* iter/order/share.h - which samples of a job are a rank's. Pure numbers.
 *
 * The slots of the job's batches, one batch after another, are filled with a sweep's samples; a
 * rank has the same slots of every batch. Where sweeps run on inside a batch, or a batch begins in
 * mid-sweep, sample 0 of a sweep is not in slot 0: its slot is the sweep's phase. */
#ifndef IMREC_ITER_ORDER_SHARE_H
#define IMREC_ITER_ORDER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct share {
    uint64_t records;      /* of a sweep, of the job */
    uint64_t batch;        /* slots of the job's batch, below 2^32 */
    uint64_t begin, count; /* of them this rank's */
    bool runs_on;          /* a sweep begins in the slot after its predecessor's last sample */
};

/* What the phases of all sweeps follow from, where `sample` of `sweep` is in `slot`. */
uint64_t share_shift(const struct share *s, uint64_t sweep, uint64_t sample, uint64_t slot);
uint64_t share_phase(const struct share *s, uint64_t sweep, uint64_t shift);
/* Own ones among the first n samples of a sweep; and the i-th own one, from 0. */
uint64_t share_before(const struct share *s, uint64_t phase, uint64_t n);
uint64_t share_sample(const struct share *s, uint64_t phase, uint64_t i);
/* Own ones among the first n slots of a batch. */
uint64_t share_of_batch(const struct share *s, uint64_t n);
#endif
