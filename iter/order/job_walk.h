/* iter/order/job_walk.h - a rank's part of what a job's schedule gives: pure numbers. The schedule
 * is that of the job, the same on every rank; the share says which of its slots are this one's. */
#ifndef IMREC_ITER_ORDER_JOB_WALK_H
#define IMREC_ITER_ORDER_JOB_WALK_H

#include "iter/order/schedule.h"
#include "iter/order/share.h"

struct job_sample {
    uint64_t sweep, sample; /* its number in the sweep */
    uint64_t slot;          /* of the job's batch */
};

/* Whether the sweep has another sample: what schedule_next() asks. */
bool job_has_more(const struct schedule *s, const struct share *share);
/* Whether the slot that schedule_next() has just filled is the rank's; *out is what is in it,
 * unless it is blank. */
bool job_owns(const struct schedule *s, const struct share *share, struct job_sample *out);
/* What a closed batch of the job is for the rank: all ranks have equally many slots of it. */
struct schedule_close job_closed(const struct schedule *s, const struct share *share);
#endif
