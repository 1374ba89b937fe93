/* augment/draw.h - what is random about a sample, as a pure function of its key. */
#ifndef IMREC_AUGMENT_DRAW_H
#define IMREC_AUGMENT_DRAW_H

#include "imrec/iterator.h"

/* All that a sample's randomness comes from: where the record stands, never an id out of its
 * header. */
struct sample_key {
    uint64_t seed, sweep;
    uint64_t shard, offset; /* number in the expanded list; byte of the record's head */
};

/* Draws for a resized, upright picture of width x height px, both at least those of
 * o->data_shape. Equal arguments, equal draw; any thread. */
struct imrec_draw augment_draw(const struct imrec_iter_options *o, struct sample_key key,
                               uint32_t width, uint32_t height);
#endif
