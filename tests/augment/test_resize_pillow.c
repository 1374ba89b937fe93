/* Pillow's passes: variants equal the scalar; whole results are compared in test_pillow.c. */
#include "augment/resize/resize_kernels.h"
#include "base/rng.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 37, TAPS = 9, WIDTH = 60, ROWS = 12 };

static uint8_t bits(uint64_t test, size_t i)
{
    return (uint8_t)rng_block((struct rng_key){82, test}, i, 0, 0, RNG_AUGMENT).v[0];
}

/* Weights of both signs, whose sums leave the range of bytes on both sides. */
static int32_t weight(uint64_t test, size_t i)
{
    return ((int32_t)bits(test + 7, i) - 96) * (1 << 12); /* 12 of 255 are below 2^31 */
}

LOOP_TEST(rows_are_alike_by_every_variant, 0, 30) /* _i: noise, channels */
{
    static const uint32_t counts[] = {1, 3, 4};
    const uint32_t channels = counts[_i % 3];
    int32_t first[PLACES], used[PLACES], weights[PLACES * TAPS];
    uint8_t row[WIDTH * 4], want[PLACES * 4 + PILLOW_SLACK], got[PLACES * 4 + PILLOW_SLACK];
    for (size_t i = 0; i < sizeof(row); i++)
        row[i] = _i % 2 != 0 ? bits((uint64_t)_i, i) : (uint8_t) - (bits((uint64_t)_i, i) & 1);
    for (size_t i = 0; i < PLACES; i++) {
        used[i] = 1 + bits(3, i) % TAPS;
        first[i] = 5 + (int32_t)(i * (WIDTH - TAPS - 1) / PLACES);
    }
    for (size_t i = 0; i < PLACES * TAPS; i++)
        weights[i] = weight((uint64_t)_i, i);
    const struct pillow_axis a = {
        .count = PLACES, .taps = TAPS, .first = first, .used = used, .weights = weights};
    const size_t bytes = (size_t)WIDTH * channels + PILLOW_SLACK;
    uint8_t room[WIDTH * 4 + PILLOW_SLACK] = {0};
    memcpy(room, row, (size_t)WIDTH * channels);
    struct guarded source = guarded_copy(room, bytes);
    pillow_x_scalar(&a, source.p, channels, want);
    for (int l = 1; l < CPU_LEVELS; l++)
        if (cpu_has((enum cpu_level)l)) {
            resize_kernels[l].pillow_x(&a, source.p, channels, got);
            ck_assert_mem_eq(got, want, PLACES * channels);
        }
    guarded_free(source);
}

LOOP_TEST(columns_are_alike_by_every_variant, 1, 70) /* _i: bytes of a row */
{
    const size_t n = (size_t)_i;
    uint8_t rows[ROWS * 70], want[70], got[70];
    int32_t weights[ROWS];
    for (size_t i = 0; i < n * ROWS; i++)
        rows[i] = bits((uint64_t)_i, i);
    for (size_t i = 0; i < ROWS; i++)
        weights[i] = weight((uint64_t)_i, i);
    struct guarded source = guarded_copy(rows, n * ROWS);
    for (uint32_t used = 1; used <= ROWS; used++) {
        memset(want, 1, sizeof(want));
        memset(got, 1, sizeof(got));
        pillow_y_scalar(source.p, n, weights, used, n, want);
        for (int l = 1; l < CPU_LEVELS; l++)
            if (cpu_has((enum cpu_level)l)) {
                resize_kernels[l].pillow_y(source.p, n, weights, used, n, got);
                ck_assert_mem_eq(got, want, sizeof(want));
            }
    }
    guarded_free(source);
}
