/* augment/paste.h - objects of one image copied into another, with their masks, boxes and
 * keypoints; what they hide of the other's objects. */
#ifndef IMREC_AUGMENT_PASTE_H
#define IMREC_AUGMENT_PASTE_H

#include "augment/objects.h"

/* Bytes in dense rows, a mask of the same size, and a label whose objects have numbers there. */
struct paste_image {
    uint8_t *pixels;
    struct mask mask; /* width and height are those of the image */
    uint32_t columns,
        rows; /* px that show it: the upper left ones, of which coordinates are shares */
    struct det_label label;
};

struct paste_job {
    const struct augment_options *o; /* channels, ignore_label, mask_boxes, min_box_area and side */
    struct object_room *room;        /* for the objects of both */
    uint32_t keypoints;              /* that an object ends in */
    uint32_t label_room;             /* values that to->label.values has room for */
};

/* All objects of `from`, whose image has the size of the other, into `to`: pixel by pixel, where
 * `to` shows its image. Of the objects that were there, those are dropped of whose pixels less than
 * min_box_area is left; hidden keypoints become so. Then boxes, numbers and mask are those of what
 * is seen. *pasted: how many of from's are in the label. Numbers and mask of `from` change.
 * IMREC_ERR_DATA: the label has no room, or its objects are wider or narrower. */
IMREC_NODISCARD enum imrec_status paste_objects(const struct paste_job *j, struct paste_image *from,
                                                struct paste_image *to, uint32_t *pasted,
                                                struct imrec_error *err);
#endif
