/* base/rng.h - counter-based randomness: a value is a function of its key, never of a state.
 * Philox 4x64-10 of Random123 (Salmon, Moraes, Dror, Shaw 2011). */
#ifndef IMREC_BASE_RNG_H
#define IMREC_BASE_RNG_H

#include <stdint.h>

/* Purposes, so that equal numbers in different places give unrelated bits. Never renumbered:
 * orders and pixels depend on them. */
enum rng_purpose {
    RNG_AUGMENT = 1,
    RNG_UNIT_ORDER = 2,
    RNG_RECORD_ORDER = 3,
    RNG_PACKING = 4,
    RNG_SELF_CHECK = 5,
};

struct rng_key {
    uint64_t seed, sweep;
};

/* 256 random bits of (key, a, b, draw, purpose). draw: what is counted in its low half, which of a
 * sample's views in the high one. */
struct rng_block {
    uint64_t v[4];
};
struct rng_block
rng_block(struct rng_key key, uint64_t a, uint64_t b, uint64_t draw, enum rng_purpose purpose);

/* 64 bits as a number below n; n > 0. Bias under n / 2^64. */
uint64_t rng_below(uint64_t bits, uint64_t n);
#endif
