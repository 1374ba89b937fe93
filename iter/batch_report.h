/* iter/batch_report.h - what is told of samples that fail and of damage: the first of a sweep by a
 * line each, all by a count at its end.
 *
 * Feed and workers note what they meet in the batch that they make; who takes the batch logs it. So
 * lines come in the order of the stream, whatever the threads, and what was made ahead and never
 * delivered is not told. */
#ifndef IMREC_ITER_BATCH_REPORT_H
#define IMREC_ITER_BATCH_REPORT_H

#include "base/log.h"

#include <stdbool.h>

struct report_count { /* of a sweep; samples, ranges */
    uint64_t zeroed, replaced, damages;
};

struct report_note {
    uint64_t place; /* in the batch: 2 k for damage before sample k, 2 k + 1 for sample k */
    uint64_t nth;   /* sweep of the batch, from 0 */
    char text[512];
};

/* Of a batch. Written under its cell's lock. */
struct cell_report {
    struct report_count *counts; /* of the sweeps in the batch, one behind another */
    uint32_t room;               /* of these: a batch has at most as many sweeps as samples */
    struct report_note *notes;   /* LOG_LISTED; the first ones, in their order */
    uint32_t noted;
};

/* Of the sweep that the consumer is in. */
struct sweep_report {
    uint64_t sweep;
    struct report_count count;
    uint32_t listed;
    bool begun, cut; /* cut: one was not listed, and so is none behind it */
};

struct cell_state;
struct imrec_iter;

void report_begin(struct cell_report *r);
/* A sample, of the batch's nth sweep. `text`: its line. */
void report_sample(struct cell_report *r, uint32_t sample, uint64_t nth, bool replaced,
                   const char *text);
/* `count` ranges before a sample; the first LOG_LISTED have a line each. */
void report_damage(struct cell_report *r, uint32_t sample, uint64_t nth, uint64_t count,
                   const struct imrec_error *lines);

/* Logs what a batch holds, and the counts of the sweeps that are over behind it. */
void report_batch(struct imrec_iter *it, const struct cell_state *c);
/* The consumer leaves the sweep it is in: its counts so far. */
void report_leave(struct imrec_iter *it);
#endif
