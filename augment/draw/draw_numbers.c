/* augment/draw/draw_numbers.c - blocks of bits of a sample, and the numbers made of them. */
#include "augment/draw/draw.h"
#include "base/rng.h"

#include <math.h>

struct rng_block draw_block(struct sample_key key, uint32_t block)
{
    return rng_block((struct rng_key){key.seed, key.sweep}, key.shard, key.offset,
                     (uint64_t)key.view << 32 | block, RNG_AUGMENT);
}

double draw_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

float draw_between(uint64_t bits, float low, float high)
{
    const float v = (float)((double)low + ((double)high - (double)low) * draw_unit(bits));
    return v < high ? v : high;
}

void draw_normals(uint64_t a, uint64_t b, double out[2])
{
    const double radius = sqrt(-2 * log(1 - draw_unit(a))); /* (0, 1] has a logarithm */
    const double turn = 2 * 3.14159265358979323846 * draw_unit(b);
    out[0] = radius * cos(turn);
    out[1] = radius * sin(turn);
}
