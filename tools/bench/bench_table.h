/* tools/bench/bench_table.h - what the measurements amount to: medians and spreads of each team. */
#ifndef IMREC_TOOLS_BENCH_BENCH_TABLE_H
#define IMREC_TOOLS_BENCH_BENCH_TABLE_H

#include "tools/bench/bench_run.h"
#include "tools/commands/command.h"

enum { BENCH_REPEATS = 99, BENCH_TEAMS = 32 };

struct bench_values { /* of the repetitions */
    double v[BENCH_REPEATS];
    int n;
};
void bench_add(struct bench_values *x, double v);
double bench_median(const struct bench_values *x); /* 0 of nothing */
double bench_spread(const struct bench_values *x); /* (maximum - minimum) / median */

struct bench_team {
    uint32_t threads;
    uint64_t images; /* a repetition */
    struct bench_values limit_rate, limit_mb, limit_cpu_us;
    struct bench_values rate, cpu_us, rss, first_batch, batch, share[STAGES];
    struct bench_values apart; /* samples a second with a decode for each view */
    double image_bytes;        /* compressed, on average */
    uint64_t planned_bytes, failed;
    uint64_t rewritten; /* of the limit's images of the last repetition */
    bool indexed;
    struct imrec_traffic traffic; /* of the last repetition */
    char advice[160];
};

struct bench_table {
    const char *uri;
    char *const *pairs; /* options as given */
    int pair_count, repeats, team_count;
    uint32_t views; /* images of a sample */
    struct bench_team team[BENCH_TEAMS];
    struct bench_values read_rate, read_mb; /* records alone, on one thread */
};

double bench_mb(const struct bench_team *t);    /* compressed images delivered, MB/s */
double bench_ratio(const struct bench_team *t); /* iterator over limit */
void bench_print(const struct bench_table *t);
void bench_print_json(const struct bench_table *t);
/* One self-contained HTML page with a chart. False after a line on stderr. */
bool bench_report(const struct bench_table *t, const char *name, const char *path);
#endif
