/* augment/draw/paste_draw.h - objects of another sample pasted into a slot (Ghiasi et al. 2021,
 * "Simple Copy-Paste"): whether, and which ones. */
#ifndef IMREC_AUGMENT_DRAW_PASTE_DRAW_H
#define IMREC_AUGMENT_DRAW_PASTE_DRAW_H

#include "augment/draw/det_label.h"
#include "augment/draw/draw.h"

struct paste_draw {
    uint64_t partner, count; /* random bits */
};

static inline bool recipe_has_pastes(const struct recipe *r)
{
    return r->det.on && r->o->rand_copy_paste_prob > 0;
}
/* False: nothing is pasted into the slot. */
bool paste_draw(const struct recipe *r, struct sample_key key, struct paste_draw *out);

/* What the other sample is moved by. */
struct sample_key paste_key(struct sample_key key);
/* Keeps those of its objects that are pasted: at least one, unless there is none. `key`: the
 * slot's. */
void paste_choose(const struct recipe *r, struct sample_key key, const struct paste_draw *d,
                  struct det_label *l);
#endif
