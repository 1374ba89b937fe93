/* im2rec/item/item_targets.h - what is packed with an image and lies on it: its mask, and boxes and
 * keypoints of its labels. All of it goes where center_crop, resize, augment and EXIF's orientation
 * move the pixels. */
#ifndef IMREC_IM2REC_ITEM_ITEM_TARGETS_H
#define IMREC_IM2REC_ITEM_ITEM_TARGETS_H

#include "augment/targets.h"
#include "codec/codec.h"
#include "im2rec/item/read_file.h"

struct moving {
    const struct imrec_pack_options *o;
    struct imrec_iter_options options; /* of recipe */
    struct recipe recipe;
    struct codec *codec;   /* of masks; NULL: none are packed */
    struct file_root root; /* of masks */
    struct file_bytes file;
    struct mask mask, result, moved[2];
    struct det_label label;
    struct targets targets;
    int fd; /* of the mask, between moving_find() and moving_read() */
    uint64_t bytes;
    bool labels;      /* this image's labels are places */
    struct bytes png; /* of this image; n 0: none */
};

IMREC_NODISCARD enum imrec_status moving_init(struct moving *m, const struct imrec_pack_options *o,
                                              const struct stop *stop, struct imrec_error *err);
void moving_free(struct moving *m); /* zeroed memory is fine */

/* Whether the image's header must be known for it, also where its file is only passed through. */
bool moving_asks(const struct moving *m);

/* Finds the mask of the image; *bytes are those of its file, 0: none is packed. false: reason or
 * p->failed say why. */
bool moving_find(struct moving *m, struct parcel *p, const struct imrec_image_info *info,
                 uint64_t *bytes);
/* Gives buffers back where they hold more than `most` bytes together. */
void moving_trim(struct moving *m, size_t most);
/* Forgets what was found. */
void moving_drop(struct moving *m);
/* Reads and checks mask and labels. m->targets.path begins with the upright image, and is to be
 * given all that is done to it. */
bool moving_begin(struct moving *m, struct parcel *p, const struct imrec_image_info *info);
/* Labels and mask as they are when that is done. */
bool moving_finish(struct moving *m, struct parcel *p, bool mirrored);
/* The mask of an image that stays as it is stored. */
bool moving_keep(struct moving *m, struct parcel *p, const struct imrec_image_info *info);
#endif
