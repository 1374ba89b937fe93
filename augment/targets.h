/* augment/targets.h - what lies on an image and goes where its pixels go: mask, boxes, keypoints.
 *
 * The geometry of a sample is collected in a path; targets are moved at its end, or before an
 * augmenter of the user's, who is shown it. */
#ifndef IMREC_AUGMENT_TARGETS_H
#define IMREC_AUGMENT_TARGETS_H

#include "augment/draw/det_label.h"
#include "augment/draw/recipe.h"
#include "augment/geometry/path.h"
#include "augment/objects.h"
#include "imrec/augmenter.h"

struct targets {
    const struct recipe *recipe;
    struct path path; /* since they were moved last */
    double before[9]; /* the map of the source to where the path begins */
    /* of the sample, by the caller: */
    const struct mask *mask; /* on the image that the path begins with; NULL: none */
    uint32_t orientation;    /* that the mask is stored in */
    struct det_label *label; /* boxes, and keypoints of each; NULL: none. det_draw() moves the
                                boxes of det_aug_default */
    float *values;           /* labels that end in keypoints; NULL: none */
    uint32_t value_count;
    uint32_t columns, rows; /* of the image in the slot: coordinates are shares of them */
    struct mask *moved;     /* two: a mask on its way, in turns */
    /* With mask_kind=instance, by the caller: */
    struct object_room *objects; /* for the numbers of `label` */
    float min_side;              /* of a box that its pixels bound, px of the slot */
};

static inline bool recipe_moves_targets(const struct recipe *r)
{
    return r->o->masks != IMREC_MASK_NONE || r->keypoints != 0 || (r->boxes && !r->det.on);
}

/* Keypoints in values[0..n): finite, shares of the sides. IMREC_ERR_CORRUPT names what is wrong. */
IMREC_NODISCARD enum imrec_status targets_check_points(const struct recipe *r, const float *values,
                                                       uint32_t n, struct imrec_error *err);
/* The same in each object of a label. */
IMREC_NODISCARD enum imrec_status
targets_check_label(const struct recipe *r, const struct det_label *l, struct imrec_error *err);

/* Bytes of masks on their way. */
uint64_t targets_bytes(const struct recipe *r);

/* Moves everything along the path, shows it to the user's augmenter, and takes back what that has
 * made of it. */
IMREC_NODISCARD enum imrec_status
targets_show(struct targets *t, struct imrec_augmenter_call *call, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status targets_take_back(struct targets *t,
                                                    const struct imrec_augmenter_call *call,
                                                    struct imrec_error *err);

/* The end: mirrors, flips, and moves labels; then the mask may be written into the slot. */
void targets_finish(struct targets *t, bool mirror, bool flip);
/* Where the slot's places are in the source, of width x height px. */
void targets_place(const struct targets *t, uint32_t width, uint32_t height,
                   struct imrec_place *out);
/* With numbers next to the label's objects: boxes that their pixels bound, and numbers that count
 * the objects that are left, in label and mask. After targets_finish(). */
IMREC_NODISCARD enum imrec_status targets_bind_objects(struct targets *t, struct imrec_error *err);
/* Values of the slot's type; one that does not fit it is IMREC_ERR_DATA. */
IMREC_NODISCARD enum imrec_status
targets_write_mask(const struct targets *t, void *slot, struct imrec_error *err);

/* Bytes of a value of a mask. */
static inline size_t mask_type_size(enum imrec_mask_type t)
{
    return t == IMREC_MASK_NONE ? 0 : t == IMREC_MASK_UINT8 ? 1 : t == IMREC_MASK_UINT16 ? 2 : 4;
}
#endif
