/* tools/bench/bench_sequences.h - how fast minibatches come out of CNTK's text and binary files. */
#ifndef IMREC_TOOLS_BENCH_BENCH_SEQUENCES_H
#define IMREC_TOOLS_BENCH_BENCH_SEQUENCES_H

#include "tools/bench/bench_table.h"

struct bench_sequences {
    const char *name; /* of the command, for messages */
    const char *source;
    char *const *pairs;
    int pair_count, repeats;
    double seconds;                /* about, a measurement */
    const struct bench_team *team; /* threads only */
    int team_count;
    uint64_t max_bytes; /* of the file in memory, for what it is compared with */
    bool json;
};

/* Measures in turns and prints a table, or JSON. Returns an exit status; what was wrong was
 * said. */
int bench_sequences(const struct bench_sequences *b);
#endif
