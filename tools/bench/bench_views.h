/* tools/bench/bench_views.h - several images out of one decode, versus one decode each. */
#ifndef IMREC_TOOLS_BENCH_BENCH_VIEWS_H
#define IMREC_TOOLS_BENCH_BENCH_VIEWS_H

#include "tools/bench/bench_table.h"

enum { BENCH_SIZES = 64 };

struct bench_views {
    uint32_t count; /* images of a sample */
    uint32_t sizes;
    struct { /* iterators that make one image of a sample, and how often it takes each */
        struct imrec_iter_options o;
        uint32_t times;
    } single[BENCH_SIZES];
};

/* What num_views and multi_crop ask for. The options are those of an iterator that opens. */
void bench_views_read(struct bench_views *v, const struct imrec_iter_options *o);

/* Samples a second where each of their images is decoded by itself. False after a line on stderr.
 */
bool bench_views_apart(const struct bench_views *v, const struct bench_job *job, double *rate);
#endif
