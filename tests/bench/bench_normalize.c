/* tests/bench/bench_normalize.c - how long the fused kernel takes for a 224 x 224 crop, by
 * variant: into one slot that stays in the cache, and into a ring of three batches of 128
 * slots (231 MB), with plain stores and with stores around the caches, on 1..N threads. */
#include "augment/normalize/normalize_kernels.h"
#include "base/pages.h"
#include "base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIDE = 224, CHANNELS = 3, SLOTS = 384, ROUNDS = 3, MAX_THREADS = 64 };
#define SLOT_BYTES ((size_t)SIDE * SIDE * CHANNELS * sizeof(float))

struct work {
    struct thread thread;
    normalize_row_fn *row;
    struct normalize_job job;
    uint8_t *out;
    uint32_t slots, rounds;
};

static uint8_t rows[16 * SIDE * CHANNELS]; /* hot, as a decoder's rows are */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *run(void *arg)
{
    struct work *w = arg;
    for (uint32_t r = 0; r < w->rounds; r++)
        for (uint32_t s = 0; s < w->slots; s++) {
            w->job.out = w->out + s * SLOT_BYTES;
            for (uint32_t y = 0; y < SIDE; y++)
                w->row(&w->job, rows + y % 16 * SIDE * CHANNELS, y);
            normalize_finish(&w->job);
        }
    return NULL;
}

static double crop_us(enum cpu_level level, bool stream, uint32_t threads, uint8_t *batch,
                      uint32_t slots, uint32_t rounds)
{
    static struct work work[MAX_THREADS];
    const double start = now();
    for (uint32_t t = 0; t < threads; t++) {
        work[t] = (struct work){.row = normalize_kernels[level].row,
                                .out = batch + t * (slots / threads) * SLOT_BYTES,
                                .slots = slots / threads,
                                .rounds = rounds};
        struct normalize_job *j = &work[t].job;
        *j = (struct normalize_job){.width = SIDE, .height = SIDE, .channels = CHANNELS};
        j->how = (struct imrec_normalize){.mean = {124, 117, 104}, .std = {1, 1, 1}, .scale = 1};
        j->how.mirror = (t & 1) != 0;
        j->stream = stream;
        j->out = batch;
        if (normalize_prepare(j, NULL) != IMREC_OK ||
            thread_start(&work[t].thread, "bench", run, &work[t], NULL) != IMREC_OK)
            exit(EXIT_FAILURE);
    }
    for (uint32_t t = 0; t < threads; t++)
        thread_join(&work[t].thread);
    return (now() - start) * 1e6 / ((double)(slots / threads) * rounds); /* of one thread */
}

int main(int argc, char **argv)
{
    const uint32_t most = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    uint8_t *batch = pages_alloc(SLOTS * SLOT_BYTES);
    if (batch == NULL || most == 0 || most > MAX_THREADS)
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof(rows); i++)
        rows[i] = (uint8_t)(i * 151);
    crop_us(CPU_SCALAR, false, 1, batch, SLOTS, 1); /* touches every page */
    puts("us a crop on its thread, 3 x 224 x 224 float32 NCHW");
    puts("variant  threads  one slot   ring, plain   ring, around the caches");
    for (uint32_t threads = 1; threads <= most; threads *= 4)
        for (int l = 0; l < CPU_LEVELS; l++) {
            const enum cpu_level level = (enum cpu_level)l;
            if (!cpu_has(level))
                continue;
            printf("%-7s  %7u  %8.1f  %12.1f  %24.1f\n", cpu_level_name(level), threads,
                   crop_us(level, false, 1, batch, 1, 200),
                   crop_us(level, false, threads, batch, SLOTS, ROUNDS),
                   crop_us(level, true, threads, batch, SLOTS, ROUNDS));
        }
    pages_free(batch, SLOTS * SLOT_BYTES);
    return EXIT_SUCCESS;
}
