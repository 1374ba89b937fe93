/* iter/order/permute.c - a Feistel network over the next power of two, walked until it lands
 * below n (Black and Rogaway, Ciphers with arbitrary finite domains, 2002).
 *
 * The halves differ by one bit where the power is odd, so that less than one step in two is
 * walked in vain. The round function is Philox, keyed by seed and sweep. */
#include "iter/order/permute.h"

#define ROUNDS       8u
#define ROUNDS_SMALL 24u /* few bits a round mix slowly; a small n is cheap */
#define SMALL_BITS   12u

static uint32_t bits_for(uint64_t n)
{
    uint32_t bits = 2; /* two halves need a bit each */
    while (bits < 64 && ((n - 1) >> bits) != 0)
        bits++;
    return bits;
}

static uint64_t below(uint32_t bits)
{
    return ((uint64_t)1 << bits) - 1; /* a half has at most 32 bits */
}

static uint64_t network(struct rng_key key, uint64_t n, uint32_t bits, uint64_t i)
{
    const uint32_t rounds = bits > SMALL_BITS ? ROUNDS : ROUNDS_SMALL;
    uint32_t low = bits / 2, high = bits - low;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint64_t right = i & below(low), left = i >> low;
        const uint64_t mixed = rng_block(key, right, n, round, RNG_UNIT_ORDER).v[0];
        i = right << high | (left ^ (mixed & below(high))); /* the halves change places */
        const uint32_t was_low = low;
        low = high;
        high = was_low;
    }
    return i; /* an even number of rounds: the halves are as at the start */
}

uint64_t permute(struct rng_key key, uint64_t n, uint64_t i)
{
    const uint32_t bits = bits_for(n);
    if (n < 2)
        return 0;
    do
        i = network(key, n, bits, i);
    while (i >= n);
    return i;
}
