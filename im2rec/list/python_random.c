/* im2rec/list/python_random.c */
#include "im2rec/list/python_random.h"

#define MT_HALF 397

static void seed_word(struct python_random *r, uint32_t word)
{
    r->state[0] = word;
    for (uint32_t i = 1; i < MT_WORDS; i++)
        r->state[i] = 1812433253u * (r->state[i - 1] ^ (r->state[i - 1] >> 30)) + i;
}

static uint32_t stirred(const struct python_random *r, uint32_t i, uint32_t by)
{
    const uint32_t before = r->state[i - 1];
    return r->state[i] ^ ((before ^ (before >> 30)) * by);
}

/* init_by_array() of the reference implementation. */
void python_random_seed(struct python_random *r, uint64_t seed)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, length = key[1] != 0 ? 2 : 1;
    uint32_t i = 1, j = 0;
    seed_word(r, 19650218u);
    for (uint32_t k = MT_WORDS; k > 0; k--) {
        r->state[i] = stirred(r, i, 1664525u) + key[j] + j;
        j = j + 1 == length ? 0 : j + 1;
        if (++i == MT_WORDS) {
            r->state[0] = r->state[MT_WORDS - 1];
            i = 1;
        }
    }
    for (uint32_t k = MT_WORDS - 1; k > 0; k--) {
        r->state[i] = stirred(r, i, 1566083941u) - i;
        if (++i == MT_WORDS) {
            r->state[0] = r->state[MT_WORDS - 1];
            i = 1;
        }
    }
    r->state[0] = 0x80000000u;
    r->at = MT_WORDS;
}

static void next_words(struct python_random *r)
{
    for (uint32_t i = 0; i < MT_WORDS; i++) {
        const uint32_t y =
            (r->state[i] & 0x80000000u) | (r->state[(i + 1) % MT_WORDS] & 0x7fffffffu);
        r->state[i] =
            r->state[(i + MT_HALF) % MT_WORDS] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
    }
    r->at = 0;
}

uint32_t python_random_bits(struct python_random *r, uint32_t bits)
{
    if (r->at == MT_WORDS)
        next_words(r);
    uint32_t y = r->state[r->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    y ^= y >> 18;
    return y >> (32 - bits);
}

uint32_t python_random_below(struct python_random *r, uint32_t n)
{
    uint32_t bits = 0, k;
    while (bits < 32 && n >> bits != 0)
        bits++;
    do
        k = python_random_bits(r, bits);
    while (k >= n);
    return k;
}
