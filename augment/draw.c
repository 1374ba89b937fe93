/* augment/draw.c - what is random about a sample, as a function of its key.
 *
 * One block of 256 bits serves the geometry: v[0] the column, v[1] the row, v[2] the mirror. All
 * are drawn whether used or not, so that switching one option on does not change another's
 * draw. Later kinds of draws take block numbers of their own. */
#include "augment/draw.h"

#include "base/rng.h"

enum { DRAW_GEOMETRY = 0 }; /* block numbers; never renumbered: pixels depend on them */

static uint32_t corner(bool random, uint64_t bits, uint32_t size, uint32_t crop)
{
    const uint32_t room = size > crop ? size - crop : 0;
    return random ? (uint32_t)rng_below(bits, (uint64_t)room + 1) : room / 2;
}

struct imrec_draw augment_draw(const struct imrec_iter_options *o, struct sample_key key,
                               uint32_t width, uint32_t height)
{
    const struct rng_block bits = rng_block((struct rng_key){key.seed, key.sweep}, key.shard,
                                            key.offset, DRAW_GEOMETRY, RNG_AUGMENT);
    return (struct imrec_draw){
        .x = corner(o->rand_crop, bits.v[0], width, o->data_shape.width),
        .y = corner(o->rand_crop, bits.v[1], height, o->data_shape.height),
        .width = width,
        .height = height,
        .mirror = o->mirror || (o->rand_mirror && bits.v[2] >> 63 != 0),
    };
}
