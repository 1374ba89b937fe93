/* tests/parallel/model/model.h - runs a scenario of a few threads in every order in which they can
 * run.
 *
 * Threads are contexts of one thread; at each point (a lock that is wanted or given back, a wait,
 * an atomic number) the next one to run is chosen, and in the end every choice was made. A state is
 * all memory of the scenario, the stacks and the registers of its threads: one that was met before,
 * on another way, is not followed again, but its ways are counted. Waits may end without a reason,
 * as POSIX allows, `spurious` times in one order. */
#ifndef IMREC_TESTS_MODEL_H
#define IMREC_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_result {
    uint64_t states;
    double orders;           /* interleavings */
    uint32_t longest, ended; /* points of the longest one; of the last states that were met */
};

/* Runs `main` as the first thread. A check that fails, a deadlock, a lock that is destroyed while
 * it is held: prints the order that leads there and exits with 1. */
struct model_result model_run(const char *name, void (*main)(void), uint32_t spurious);

/* For scenarios: their memory, which is part of a state; a point of their own. */
void *model_memory(size_t n);
void model_point(const char *what);
void model_check(bool holds, const char *what);
#endif
