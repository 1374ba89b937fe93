/* iter/sample/paste_sampler.h - an image that objects of another one are pasted into: what a worker
 * owns for it. */
#ifndef IMREC_ITER_SAMPLE_PASTE_SAMPLER_H
#define IMREC_ITER_SAMPLE_PASTE_SAMPLER_H

#include "augment/draw/paste_draw.h"
#include "augment/paste.h"
#include "iter/sample/sampler.h"

struct paste_sampler {
    const struct view_kinds *kinds;  /* of move_kinds_init(); borrowed; none: nothing is pasted */
    struct sampler sampler;          /* of one image at a time, which is a slot of bytes */
    struct paste_image own, partner; /* the slot's, and the one that objects come from */
    float *row;                      /* room for the partner's label, as a slot has it */
    uint32_t *numbers;               /* likewise of its objects */
    struct object_room *objects;     /* of the worker */
};

/* Bytes that one holds besides its sampler's scratch. `label_room`: values of a label. */
uint64_t paste_sampler_bytes(const struct view_kinds *moves, uint32_t label_room);
/* Without kinds nothing is allocated. `moves`, headroom and objects must outlive it. `head` floats
 * come before the label in `row`. */
IMREC_NODISCARD enum imrec_status
paste_sampler_init(struct paste_sampler *p, const struct view_kinds *moves,
                   struct headroom *headroom, uint32_t head, uint32_t label_room,
                   struct object_room *objects, struct imrec_error *err);
void paste_sampler_free(struct paste_sampler *p); /* zeroed memory is fine */

/* A view of p->sampler that makes what *of asks for, but into the image *to; of->label is moved
 * with it. */
void paste_view(struct paste_sampler *p, const struct sampler_view *of, struct paste_image *to,
                struct sampler_view *out);
/* When it is made: label and size of *to. */
void paste_view_made(const struct sampler_view *v, struct paste_image *to);

/* Pastes from the partner those of its objects that are drawn. */
IMREC_NODISCARD enum imrec_status paste_chosen(struct paste_sampler *p, const struct recipe *r,
                                               struct sample_key key, const struct paste_draw *d,
                                               uint32_t label_room, uint32_t *pasted,
                                               struct imrec_error *err);
/* The image p->own, with its mask, painted by `s` into the slot of *v; of its draw all that moves
 * something is that of `moved`. */
IMREC_NODISCARD enum imrec_status
paste_finish(struct paste_sampler *p, struct sampler *s, struct sampler_view *v,
             const struct imrec_draw *moved, struct imrec_error *err);
#endif
