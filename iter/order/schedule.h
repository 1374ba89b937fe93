/* iter/order/schedule.h - which slot gets what: sweeps, laps, ends of batches. A pure state
 * machine; it knows neither records nor their number, only whether another one is there.
 *
 * With equal_batches a sweep delivers `equal` samples whatever the partition holds: its own
 * records, then lap after lap of the same ones again. last_batch comes after that. The number is
 * that of the own records or more: so it is of no use before these are at their end, and may be
 * found out by then.
 *
 * An epoch is a sweep, or `epoch_size` samples: then sweeps follow each other inside a batch, and
 * last_batch is about the epoch's last one. */
#ifndef IMREC_ITER_ORDER_SCHEDULE_H
#define IMREC_ITER_ORDER_SCHEDULE_H

#include "imrec/iter_params.h"

enum schedule_step {
    SCHEDULE_SAMPLE,   /* next slot: the next record, a sample of the sweep */
    SCHEDULE_REPEATED, /* next slot: the next record, but it counts as pad */
    SCHEDULE_BLANK,    /* next slot: zeros */
    SCHEDULE_GO,       /* go to the start of sweep schedule_target(), then ask again */
    SCHEDULE_BACK,     /* go back to the place of `main`, then ask again */
    SCHEDULE_CLOSE,    /* the batch is over: see schedule.closed; then ask again */
};

/* A walk through sweeps. */
struct schedule_run {
    uint64_t sweep, sample;   /* the next one; sample counts repeated ones of the sweep too */
    bool repeating;           /* a lap after the first */
    bool given;               /* this lap has had a record */
    uint64_t position;        /* samples before it, of all sweeps */
    uint64_t epoch, in_epoch; /* that it belongs to; samples of it that came before */
};

struct schedule_close {
    uint32_t slots, count;     /* filled; of them samples */
    bool deliver;              /* false: nobody sees the batch (empty, or dropped) */
    bool sweep_end;            /* the last sample of a sweep is in it */
    bool epoch_end;            /* and that of an epoch */
    bool end;                  /* IMREC_END comes after it */
    struct schedule_run next;  /* the place of the stream after it, before the END ... */
    struct schedule_run after; /* ... and after that */
};

enum schedule_fill { FILL_SWEEP, FILL_NEXT_SWEEPS, FILL_BLANK };

struct schedule {
    enum imrec_last_batch last_batch;
    uint32_t batch_size;
    uint64_t equal; /* samples of a sweep; 0: as many as there are records; SCHEDULE_UNCOUNTED */
    uint64_t epoch_size;              /* samples; 0: a sweep */
    uint64_t max_samples, max_sweeps; /* the last END comes then, and stays; 0: never */
    struct schedule_run main, tail;
    enum schedule_fill fill;       /* what fills the batch now */
    uint32_t slots, count;         /* of the open batch */
    bool sweep_ended, epoch_ended; /* in the open batch */
    bool at_sweep_end;             /* it is its sweep's last */
    bool go, back;
    struct schedule_close closed;
};

#define SCHEDULE_UNCOUNTED UINT64_MAX

/* `at`: where to begin. The record stream must be there already. */
void schedule_begin(struct schedule *s, struct schedule_run at);
/* Whether schedule_next() looks at `more`: to find out may cost a wait for bytes. */
bool schedule_asks(const struct schedule *s);
/* Whether `equal` must be known before schedule_next(). */
bool schedule_needs_equal(const struct schedule *s, bool more);
/* `more`: the record stream has another record in its sweep and lap. */
enum schedule_step schedule_next(struct schedule *s, bool more);
/* Whether, as there is another record, the next step is it, or the end of the batch. */
bool schedule_stays(const struct schedule *s);
uint64_t schedule_target(const struct schedule *s);
/* Whether records given now are samples of the main run, met for the first time. */
bool schedule_is_first_lap(const struct schedule *s);
#endif
