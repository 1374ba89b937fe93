/* augment/draw/paste_draw.c - whether objects are pasted into a slot, and which ones. */
#include "augment/draw/paste_draw.h"

#include "base/rng.h"

bool paste_draw(const struct recipe *r, struct sample_key key, struct paste_draw *out)
{
    if (!recipe_has_pastes(r))
        return false;
    const struct rng_block bits = draw_block(key, DRAW_PASTE);
    *out = (struct paste_draw){.partner = bits.v[1], .count = bits.v[2]};
    return draw_unit(bits.v[0]) < (double)r->o->rand_copy_paste_prob;
}

/* Views of a sample have numbers below this one. */
struct sample_key paste_key(struct sample_key key)
{
    key.view |= UINT32_C(1) << 31;
    return key;
}

/* Knuth, The Art of Computer Programming, vol. 2, 3.4.2, algorithm S: each choice of that many is
 * as likely as any other. */
void paste_choose(const struct recipe *r, struct sample_key key, const struct paste_draw *d,
                  struct det_label *l)
{
    const uint64_t count = det_label_count(l), bound = (uint64_t)r->o->max_copy_paste_objects;
    const uint64_t most = bound != 0 && bound < count ? bound : count;
    float *to = l->values + l->header;
    uint64_t wanted = count != 0 ? 1 + rng_below(d->count, most) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bits = draw_block(key, DRAW_PASTE_OBJECT + i / 4).v[i % 4];
        if (rng_below(bits, count - i) >= wanted)
            continue;
        to = det_label_keep(l, i, to);
        wanted--;
    }
    l->n = (uint32_t)(to - l->values);
}
