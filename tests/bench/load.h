/* tests/bench/load.h - files that a benchmark reads, and the CPU time that it has taken. */
#ifndef IMREC_TESTS_BENCH_LOAD_H
#define IMREC_TESTS_BENCH_LOAD_H

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Up to 16 MiB of a file, as long as the program; none: it cannot be read. */
static inline struct bytes load_file(const char *path)
{
    enum { MOST_OF_FILE = 16 << 20 };
    FILE *f = fopen(path, "rb");
    struct bytes b = {0};
    if (f == NULL)
        return b;
    uint8_t *p = malloc(MOST_OF_FILE);
    b.n = p == NULL ? 0 : fread(p, 1, MOST_OF_FILE, f);
    b.p = p;
    fclose(f);
    return b;
}

/* Of this thread. */
static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
#endif
