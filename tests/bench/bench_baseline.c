/* tests/bench/bench_baseline.c - what blocks and rows of the plain JPEG decoder take, by variant:
 * ns a block by its number of coefficients, ns a pixel of rows of 384. No test. */
#include "codec/jpeg/kernels/jpeg_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 64, WIDTH = 384, REPEAT = 400, ROUNDS = 41 };

static _Alignas(64) int16_t g_coef[BLOCKS][64];
static _Alignas(64) uint16_t g_quant[64];
static uint8_t g_samples[5][WIDTH + 2 * KERNEL_SLACK], g_out[3 * WIDTH + KERNEL_SLACK];
static uint8_t g_plane[8][BLOCKS * 8];

static const uint8_t natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fill_blocks(uint32_t last)
{
    memset(g_coef, 0, sizeof(g_coef));
    for (int b = 0; b < BLOCKS; b++)
        for (uint32_t k = 0; k <= last; k++)
            g_coef[b][natural[k]] = (int16_t)(rand() % 21 - 10 + (k == last ? 20 : 0));
    for (int k = 0; k < 64; k++)
        g_quant[k] = (uint16_t)(1 + k / 8);
}

static double block_ns(const struct baseline_kernels *k, uint32_t last)
{
    double best = 1e18;
    fill_blocks(last);
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now_ns();
        for (int i = 0; i < REPEAT; i++)
            for (size_t b = 0; b < BLOCKS; b++)
                k->idct(g_coef[b], g_quant, last, g_plane[0] + 8 * b, sizeof(g_plane[0]));
        const double ns = (now_ns() - begin) / (REPEAT * BLOCKS);
        best = ns < best ? ns : best;
    }
    return best;
}

static double pixel_ns(void (*row)(const struct kernel_row *))
{
    const struct kernel_row r = {.y = g_samples[0] + KERNEL_SLACK,
                                 .cb = g_samples[1] + KERNEL_SLACK,
                                 .cr = g_samples[2] + KERNEL_SLACK,
                                 .cb_far = g_samples[3] + KERNEL_SLACK,
                                 .cr_far = g_samples[4] + KERNEL_SLACK,
                                 .n = WIDTH,
                                 .rgb = g_out};
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now_ns();
        for (int i = 0; i < REPEAT; i++)
            row(&r);
        const double ns = (now_ns() - begin) / (REPEAT * WIDTH);
        best = ns < best ? ns : best;
    }
    return best;
}

int main(void)
{
    static const uint32_t lasts[] = {0, 1, 5, 9, 20, 63};
    for (size_t i = 0; i < 5; i++)
        for (size_t x = 0; x < sizeof(g_samples[0]); x++)
            g_samples[i][x] = (uint8_t)rand();
    puts("variant   ns a block, last coefficient at 0, 1, 5, 9, 20, 63    ns a pixel 4:4:4 "
         "4:2:2 4:2:0 grey");
    for (enum cpu_level level = CPU_SCALAR; level < CPU_LEVELS; level++) {
        const struct baseline_kernels *k = &baseline_kernels[level];
        if (!cpu_has(level))
            continue;
        printf("%-8s", cpu_level_name(level));
        for (size_t i = 0; i < sizeof(lasts) / sizeof(lasts[0]); i++)
            printf("%7.1f", block_ns(k, lasts[i]));
        printf("    %7.3f%7.3f%7.3f%7.3f\n", pixel_ns(k->row_444), pixel_ns(k->row_422),
               pixel_ns(k->row_420), pixel_ns(k->row_grey));
    }
    return EXIT_SUCCESS;
}
