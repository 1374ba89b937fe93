/* tools/bench/bench_run.h - one measurement, in a process of its own.
 *
 * A child has its own memory and threads: what it takes is what is measured, and nothing is
 * left over from the run before. It is pinned to as many CPUs as it has workers. */
#ifndef IMREC_TOOLS_BENCH_BENCH_RUN_H
#define IMREC_TOOLS_BENCH_BENCH_RUN_H

#include "imrec/imrec.h"
#include "tools/bench/limit/bench_limit.h"

enum bench_stage { STAGE_IO_WAIT, STAGE_FEED, STAGE_DECODE, STAGE_AUGMENT, STAGE_CONSUMER, STAGES };
extern const char *const bench_stage_names[STAGES];

struct bench_job {
    const char *uri;
    const struct imrec_iter_options *iter;
    uint32_t threads;
    const char *name;   /* of the command, for messages */
    uint64_t images;    /* to measure */
    uint64_t max_bytes; /* of images in memory, for the limit */
};

struct bench_result {
    bool good;
    struct imrec_error why; /* where it is not */
    double seconds, cpu_seconds;
    uint64_t images, bytes, failed;
    uint64_t rewritten; /* of the limit's images: bench_limit_plain() */
    /* of the iterator */
    double first_batch_s, batch_s;
    uint64_t rss_bytes, planned_bytes;
    double share[STAGES];         /* of the workers' time */
    bool indexed;                 /* the order is by record */
    struct imrec_traffic traffic; /* since it was opened */
    char advice[160];
};

/* Runs work(arg) in a process of its own on `cpus` CPUs, which leaves n bytes at `out`, a part of
 * what arg leads to. False: *why says what went wrong. */
bool bench_in_child(uint32_t cpus, void (*work)(void *), void *arg, void *out, size_t n,
                    struct imrec_error *why);
uint32_t bench_cpus(void); /* that this process may use */

/* Opens the iterator and closes it. Returns an exit status; what was wrong was said. */
int bench_try(const struct bench_job *job);

/* False after a line on stderr. */
bool bench_run_limit(const struct bench_job *job, struct bench_result *out);
bool bench_run_iterator(const struct bench_job *job, struct bench_result *out);
bool bench_run_read(const struct bench_job *job, struct bench_result *out);
#endif
