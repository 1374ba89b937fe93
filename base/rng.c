/* base/rng.c - counter-based randomness. */
#include "base/rng.h"

#include <Random123/philox.h>

struct rng_block
rng_block(struct rng_key key, uint64_t a, uint64_t b, uint64_t draw, enum rng_purpose purpose)
{
    const philox4x64_ctr_t counter = {{a, b, draw, (uint64_t)purpose}};
    const philox4x64_key_t seed = {{key.seed, key.sweep}};
    const philox4x64_ctr_t bits = philox4x64(counter, seed);
    return (struct rng_block){{bits.v[0], bits.v[1], bits.v[2], bits.v[3]}};
}

uint64_t rng_below(uint64_t bits, uint64_t n)
{
    const uint64_t high = bits >> 32, low = bits & 0xffffffffu; /* (bits * n) >> 64, portably */
    const uint64_t n_high = n >> 32, n_low = n & 0xffffffffu;
    const uint64_t mid = high * n_low + ((low * n_low) >> 32);
    return high * n_high + (mid >> 32) + ((low * n_high + (mid & 0xffffffffu)) >> 32);
}
