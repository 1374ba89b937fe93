/* parallel/workers.h - threads that do one thing together. */
#ifndef IMREC_PARALLEL_WORKERS_H
#define IMREC_PARALLEL_WORKERS_H

#include <stdint.h>

uint32_t workers_count(int64_t asked); /* 0: one for each CPU this process may use */

/* Calls run(context, worker, size) in `count` threads at once, worker 0 in the caller's, and
 * returns when all have returned. OpenMP may give fewer threads: `size` says how many there are.
 * Where the system may refuse a thread, threads_probe() comes first. */
void workers_run(uint32_t count, void (*run)(void *context, uint32_t worker, uint32_t size),
                 void *context);
#endif
