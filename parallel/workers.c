/* parallel/workers.c - the region that all threads of OpenMP are in. */
#include "parallel/workers.h"

#include <omp.h>

uint32_t workers_count(int64_t asked)
{
    return asked > 0 ? (uint32_t)asked : (uint32_t)omp_get_num_procs();
}

void workers_run(uint32_t count, void (*run)(void *context, uint32_t worker, uint32_t size),
                 void *context)
{
#pragma omp parallel num_threads((int)count) default(none) shared(run, context)
    run(context, (uint32_t)omp_get_thread_num(), (uint32_t)omp_get_num_threads());
}
