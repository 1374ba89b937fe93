/* augment/mix.h - mixup and cutmix: two samples of a batch, each mixed with the other. The only
 * augmenters whose result depends on what else is in the batch. */
#ifndef IMREC_AUGMENT_MIX_H
#define IMREC_AUGMENT_MIX_H

#include "augment/draw/draw.h"
#include "imrec/image.h"

/* Drawn for a sample; of a pair, the numbers of the one with the lower order count. */
struct mix_draw {
    uint64_t order; /* samples of a batch, sorted by it, are paired two by two */
    float share;    /* of the sample itself, Beta(alpha, alpha) */
    bool cut;       /* a rectangle changes places; otherwise everything is blended */
    double x, y;    /* middle of the rectangle, 0..1 */
};
static inline bool recipe_mixes(const struct recipe *r)
{
    return r->o->mixup > 0 || r->o->cutmix > 0;
}
struct mix_draw mix_draw(const struct recipe *r, struct sample_key key);

/* Of share s = 1 - w h / (W H) the rectangle of w x h px, cut off at the slot's borders. */
struct imrec_rect mix_rectangle(const struct mix_draw *d, uint32_t width, uint32_t height);

/* Mixes the slots a and b; returns what is left of each in itself. */
float mix_slots(const struct augment_options *o, const struct mix_draw *d, void *a, void *b);
void mix_swap_bytes(uint8_t *a, uint8_t *b, size_t n);
#endif
