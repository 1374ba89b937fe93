/* iter/options/view_kinds.h - which images are made of a sample: how many, of which shapes, in
 * which sweep. */
#ifndef IMREC_ITER_OPTIONS_VIEW_KINDS_H
#define IMREC_ITER_OPTIONS_VIEW_KINDS_H

#include "augment/draw/recipe.h"
#include "imrec/iterator.h"

enum { VIEW_KINDS = 64, VIEW_TENSORS = 64, VIEW_LIMIT = 1024 /* images of a sample */ };

struct view_kind {            /* images of one shape */
    struct augment_options o; /* with that data_shape, and its areas */
    struct recipe recipe;     /* of these */
    size_t bytes;             /* of an image in a batch */
    size_t mask_bytes;        /* of its mask; 0: none */
    uint64_t since;           /* data_shape_schedule: the first sweep of this shape */
};

struct further_images;

struct view_kinds {
    uint32_t rows;       /* slots that a sample fills: num_views */
    uint32_t tensors;    /* of a batch: the crops of multi_crop, or one */
    uint32_t kind_count; /* shapes of the tensors; or, one after another, of the only one */
    struct view_kind *kinds;
    uint8_t of_tensor[VIEW_TENSORS]; /* its kind, if there are several */
    /* images=; NULL: only the record's own. Borrowed. */
    const struct further_images *further;
};

/* Reads num_views, multi_crop, multi_crop_area and data_shape_schedule of `o`, which is checked but
 * for these. What contradicts or cannot be is refused in one sentence. */
IMREC_NODISCARD enum imrec_status
view_kinds_init(struct view_kinds *v, const struct imrec_iter_options *o, struct imrec_error *err);
void view_kinds_free(struct view_kinds *v); /* zeroed memory is fine */

/* Images of a sample. */
static inline uint32_t view_kinds_count(const struct view_kinds *v)
{
    return v->rows * v->tensors;
}

/* The largest of all kinds, px of a slot. */
uint64_t view_kinds_most_pixels(const struct view_kinds *v);

/* Which shape a tensor has in the batches of a sweep. */
uint32_t view_kinds_kind(const struct view_kinds *v, uint64_t sweep, uint32_t tensor);
#endif
