/* iter/batch_report.h - reports failed samples and damage: the first of a sweep in a line each, all
 * as a count at its end.
 *
 * Feed and workers note the faults of a batch in it; taking the batch logs them. So lines come in
 * the order of the stream, whatever the threads, and a batch that was made ahead and never
 * delivered logs nothing. */
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
    struct report_count *counts; /* of the sweeps in the batch, one after another */
    uint32_t room;               /* of these: a batch has at most as many sweeps as samples */
    struct report_note *notes;   /* LOG_LISTED; the first ones, in their order */
    uint32_t noted;
};

/* Of the sweep that the consumer is in. */
struct sweep_report {
    uint64_t sweep;
    struct report_count count;
    uint32_t listed;
    bool begun, cut; /* cut: one was not listed, so none after it is */
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

/* Logs the notes of a batch, and the counts of the sweeps that end in it. */
void report_batch(struct imrec_iter *it, const struct cell_state *c);
/* Once, if the sweep that ends with it has delivered nothing: a loop over it would do nothing, in
 * silence. */
void report_nothing(struct imrec_iter *it, const struct cell_state *c);
/* The consumer leaves the sweep it is in: its counts so far. */
void report_leave(struct imrec_iter *it);
#endif
