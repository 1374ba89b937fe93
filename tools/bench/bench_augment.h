/* tools/bench/bench_augment.h - the time of each augmenter, compared with decoding an image. */
#ifndef IMREC_TOOLS_BENCH_BENCH_AUGMENT_H
#define IMREC_TOOLS_BENCH_BENCH_AUGMENT_H

#include "tools/bench/bench_table.h"

/* Measures the augmenters of `names` ("all", or names with commas between) one by one on one
 * thread, each added to the options of `job`, and prints a table, or JSON. Returns an exit status;
 * what was wrong was said. */
int bench_augmenters(const struct bench_job *job, const char *names, int repeats, double seconds,
                     bool json);
#endif
