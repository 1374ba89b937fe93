/* iter/options/further_images.h - images=: which tensors a batch has after that of the records'
 * images. */
#ifndef IMREC_ITER_OPTIONS_FURTHER_IMAGES_H
#define IMREC_ITER_OPTIONS_FURTHER_IMAGES_H

#include "iter/options/view_kinds.h"

enum { FURTHER_MOST = 16 };
#define FURTHER_MASK "mask"

struct further_image {
    const char *name;
    bool optional;  /* a sample may lack it */
    bool nearest;   /* pixels: resized by the nearest one */
    bool normalize; /* pixels: mean, std and scale are those of the first image */
    uint16_t fill;  /* of a map: where it has no value */
    uint32_t channels;
    enum imrec_image_type type;
};

struct further_images {
    bool none; /* not even the record's own */
    bool mask; /* one of them is called FURTHER_MASK: the mask of a record */
    char *text;
    uint32_t count;
    struct further_image image[FURTHER_MOST];
    uint32_t of_image; /* kinds of each: those of the first image, in that order */
    /* Their shapes, image after image. A map's dtype and layout are not looked at, its `bytes` are
     * those of its type. */
    struct view_kinds kinds;
};

/* images= of `o`, which is checked; `views` are those of the first image. What contradicts or
 * cannot be is refused in one sentence. */
IMREC_NODISCARD enum imrec_status
further_images_init(struct further_images *f, const struct imrec_iter_options *o,
                    const struct view_kinds *views, struct imrec_error *err);
void further_images_free(struct further_images *f); /* zeroed memory is fine */

/* The shape of an image, whose view has that kind. */
static inline uint32_t further_kind(const struct further_images *f, uint32_t image, uint32_t kind)
{
    return image * f->of_image + kind;
}
/* Bytes of a value of a map; 0: pixels. */
static inline size_t image_type_size(enum imrec_image_type t)
{
    return t == IMREC_IMAGE_PIXELS   ? 0
           : t == IMREC_IMAGE_UINT8  ? 1
           : t == IMREC_IMAGE_UINT16 ? 2
                                     : 4;
}
#endif
