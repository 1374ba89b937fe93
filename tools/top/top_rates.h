/* tools/top/top_rates.h - what happened between two samples of a loader. */
#ifndef IMREC_TOOLS_TOP_TOP_RATES_H
#define IMREC_TOOLS_TOP_TOP_RATES_H

#include "tools/top/top_text.h"

enum top_limit {
    TOP_UNKNOWN, /* no two samples yet */
    TOP_STOPPED, /* nothing was delivered */
    TOP_LOOP,    /* the training loop: batches wait for it */
    TOP_STORAGE, /* the loop waits, and the reader waits for bytes */
    TOP_CPUS,    /* the loop waits, and workers are busy */
    TOP_SILENT,  /* its file is no longer renewed: it has ended, or hangs */
};

struct top_rates {
    bool known;
    double seconds; /* between the two */
    double images_per_s, read_mb_per_s;
    /* Shares of the time, 0..1: of the training loop, of the reader, of the time when all batches
     * were ready; of the workers' time, summed over them. */
    double loop_waits, io_waits, all_ready, decode, augment;
    enum top_limit limit;
};

/* `before` NULL, or not before `now`, or of a loader that began again: nothing is known. */
void top_compare(const struct top_sample *before, const struct top_sample *now,
                 struct top_rates *out);
const char *top_limit_name(enum top_limit limit); /* a word for people */
#endif
