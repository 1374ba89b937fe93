/* im2rec/item/augmenting.h - images augmented before they are encoded: the iterator's keys, the
 * iterator's steps, on what center_crop and resize have left of an image.
 *
 * Without a data_shape an image keeps the size it came with. */
#ifndef IMREC_IM2REC_ITEM_AUGMENTING_H
#define IMREC_IM2REC_ITEM_AUGMENTING_H

#include "augment/draw/draw.h"
#include "augment/steps.h"
#include "imrec/packer.h"

struct augmenting {
    struct augment_options o; /* data_shape is that of the image in hand */
    struct recipe recipe;
    struct imrec_shape given; /* data_shape as it was given; zeros: it was not */
    char *text;               /* what o's texts point into */
    struct image images[2];
};

/* "key=value key=value"; blanks between. A key that is none of augmentation, or that changes
 * values of a batch and not pixels, is IMREC_ERR_ARGUMENT. channels: 0 = those of each image. */
IMREC_NODISCARD enum imrec_status
augmenting_init(struct augmenting *a, const char *text, uint32_t channels, struct imrec_error *err);
void augmenting_free(struct augmenting *a); /* zeroed memory is fine */

/* What becomes of one image: planned before it is decoded, so that its memory is known. */
struct augmenting_plan {
    struct sample_key key;
    struct imrec_draw draw;
    struct steps steps;
    uint32_t width, height; /* of the result */
    uint64_t bytes;         /* that it will hold */
};
/* For an image of such a size, upright; copy is the number of the record made of it.
 * IMREC_ERR_LIMIT: it would become too large on the way. */
IMREC_NODISCARD enum imrec_status
augmenting_draw(struct augmenting *a, const struct imrec_pack_options *o, uint64_t id,
                uint64_t copy, struct imrec_shape image, struct augmenting_plan *out,
                struct imrec_error *err);
/* Gives buffers back where they hold more than `most` bytes together. */
void augmenting_trim(struct augmenting *a, size_t most);
/* *out is a view of a's memory, until the next call. Where pixels go is added to the path, but for
 * the mirror and the flip. */
IMREC_NODISCARD enum imrec_status
augmenting_run(struct augmenting *a, const struct augmenting_plan *p,
               const struct imrec_image *from, struct path *path, struct resize_scratch *scratch,
               struct imrec_image *out, struct imrec_error *err);
#endif
