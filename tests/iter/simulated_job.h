/* tests/iter/simulated_job.h - a job of many ranks in one process: no bytes, threads or files. The
 * code that says what a rank gets is the product's (iter/order, iter/position). */
#ifndef IMREC_TESTS_ITER_SIMULATED_JOB_H
#define IMREC_TESTS_ITER_SIMULATED_JOB_H

#include "iter/load/record_stream.h"
#include "iter/order/job_walk.h"
#include "iter/position.h"

enum { MOST_RECORDS = 3000, MOST_SLOTS = 1 << 15, MOST_RANKS = 4096, POSITION_TEXT = 640 };

/* Says what is wrong with the schedule, and ends the process. */
__attribute__((format(printf, 1, 2), noreturn)) void simulation_fail(const char *format, ...);
extern uint64_t simulated_schedule; /* its seed, for that message */

/* ---- a job -------------------------------------------------------------------------------- */

enum choice { CHOICE_NONE, CHOICE_SUBSET, CHOICE_MIX, CHOICE_WEIGHTS, CHOICES };

struct job {
    struct container set;
    uint64_t batch, epoch_size, max_samples, damaged; /* one of that many records; 0: none */
    enum imrec_last_batch last_batch;
    enum choice choice;
    struct record_stream_options order;
    struct sampling sampling; /* owned by no rank */
    uint64_t members[MOST_RECORDS], line[MOST_RECORDS];
    struct stratum strata[6];
};

/* ---- a rank ------------------------------------------------------------------------------- */

struct slot {
    uint64_t sweep, sample, record, lap;
    enum schedule_step kind; /* SCHEDULE_BLANK: the rest is 0 */
    bool damaged;
};

struct call { /* of next(): a batch, or an END */
    bool end, sweep_end, epoch_end;
    uint32_t slots, count;
    const struct slot *slot;
    const char *before; /* the position that was there */
};

struct rank {
    const struct job *job;
    struct schedule schedule;
    struct global_order order;
    struct position_order order_of;
    struct place at, after;
    bool end_due;
    struct slot slot[MOST_SLOTS]; /* of the last batch */
    char before[POSITION_TEXT];
};
/* Its share of the job, from the begin; to be closed. */
void rank_open(struct rank *r, const struct job *j, uint64_t world, uint64_t number);
void rank_close(struct rank *r);
/* Until a batch of the job is over; n: slots of the rank. */
struct schedule_close rank_batch(struct rank *r, uint32_t *n);
/* What next() gives. */
struct call rank_next(struct rank *r);
/* On from a checkpoint. */
void rank_seek(struct rank *r, const char *json);
#endif
