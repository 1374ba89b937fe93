/* data/dice.h - numbers that look random and are the same on every machine. */
#ifndef IMREC_DATA_DICE_H
#define IMREC_DATA_DICE_H

#include <stdint.h>

/* C leaves open in which order the parts of an expression are evaluated: throw once in each. */
struct dice { /* splitmix64 (Steele, Lea, Flood 2014) */
    uint64_t state;
};

static inline uint32_t dice_roll(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

static inline uint64_t dice_roll_long(struct dice *d)
{
    const uint64_t high = dice_roll(d);
    return high << 32 | dice_roll(d);
}

/* lo <= result <= hi */
static inline int dice_between(struct dice *d, int lo, int hi)
{
    return lo + (int)((uint64_t)dice_roll(d) * (uint64_t)(hi - lo + 1) >> 32);
}

static inline int dice_percent(struct dice *d, int percent) /* true in `percent` cases of 100 */
{
    return dice_between(d, 0, 99) < percent;
}

/* 32 bits of a place: neighbours are unrelated. */
static inline uint32_t hash_at(uint32_t seed, int x, int y)
{
    uint32_t h = seed + (uint32_t)x * 0x9e3779b1u;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h += (uint32_t)y * 0xc2b2ae35u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    return h ^ h >> 16;
}
#endif
