/* im2rec/item/image_plan.h - what becomes of an image, and the bytes that takes: arithmetic on its
 * header, before anything of it is decoded. */
#ifndef IMREC_IM2REC_ITEM_IMAGE_PLAN_H
#define IMREC_IM2REC_ITEM_IMAGE_PLAN_H

#include "codec/codec.h"
#include "im2rec/item/augmenting.h"
#include "im2rec/item/budget.h"
#include "im2rec/item/quality_target.h"
#include "imrec/packer.h"

/* An image that a codec has begun. */
struct image_to_plan {
    const struct imrec_pack_options *o;
    const struct codec *codec;
    const struct imrec_image_info *info;
    const struct quality_goal *goal;
    struct augmenting *augmenting; /* NULL: it is not augmented */
    uint64_t id, copy;             /* of its record, which draws by them */
    struct bytes file;             /* which is also held */
    uint64_t head_bytes;           /* the bytes before it in its record */
};

struct image_plan {
    uint32_t denominator;   /* the JPEG decoder shrinks by it */
    uint32_t channels;      /* decoded to */
    uint32_t width, height; /* px, upright, after center_crop and resize */
    struct augmenting_plan augmented;
    uint32_t to_width, to_height; /* px, of the result */
    struct budget_need need;
};

/* IMREC_ERR_LIMIT: what is to become of it is larger than anything may become. */
IMREC_NODISCARD enum imrec_status
image_plan_make(const struct image_to_plan *i, struct image_plan *out, struct imrec_error *err);

/* What a file takes that is only passed through, or a JPEG that is written again; `checked`: it is
 * decoded too. info is NULL where nothing was begun. */
void image_plan_pass(const struct image_to_plan *i, bool checked, struct image_plan *out);

/* Adds what a mask takes that goes where its image goes. */
void image_plan_add_mask(const struct image_to_plan *i, uint64_t mask_bytes, struct image_plan *p);
/* Adds what files take that go into its record as they are. */
void image_plan_add_fields(const struct image_to_plan *i, uint64_t bytes, struct image_plan *p);
#endif
