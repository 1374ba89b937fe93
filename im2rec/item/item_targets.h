/* im2rec/item/item_targets.h - what is packed with an image and lies on it: its mask, and boxes and
 * keypoints of its labels. All of it goes where center_crop, resize, augment and EXIF's orientation
 * move the pixels. */
#ifndef IMREC_IM2REC_ITEM_ITEM_TARGETS_H
#define IMREC_IM2REC_ITEM_ITEM_TARGETS_H

#include "augment/targets.h"
#include "codec/codec.h"
#include "im2rec/item/read_file.h"

struct item_targets {
    const struct imrec_pack_options *o;
    struct augment_options options; /* of recipe */
    struct recipe recipe;
    struct codec *codec;   /* of masks; NULL: none are packed */
    struct file_root root; /* of masks */
    struct file_bytes file;
    struct mask mask, result, moved[2];
    struct det_label label;
    struct targets targets;
    struct image_file mask_file; /* between item_targets_find() and item_targets_read() */
    bool labels;                 /* this image's labels are places */
    struct bytes png;            /* of this image; n 0: none */
};

IMREC_NODISCARD enum imrec_status
item_targets_init(struct item_targets *m, const struct imrec_pack_options *o,
                  const struct stop *stop, struct imrec_error *err);
void item_targets_free(struct item_targets *m); /* zeroed memory is fine */

/* Whether the image's header must be known for it, also where its file is only passed through. */
bool item_targets_asks(const struct item_targets *m);

/* Finds the mask of the image; *bytes are those of its file, 0: none is packed. false: reason or
 * p->failed say why. */
bool item_targets_find(struct item_targets *m, struct pack_item *p,
                       const struct imrec_image_info *info, uint64_t *bytes);
/* Gives buffers back where they hold more than `most` bytes together. */
void item_targets_trim(struct item_targets *m, size_t most);
/* Forgets what was found. */
void item_targets_drop(struct item_targets *m);
/* Reads and checks mask and labels. m->targets.path begins with the upright image, and is to be
 * given all that is done to it. */
bool item_targets_begin(struct item_targets *m, struct pack_item *p,
                        const struct imrec_image_info *info);
/* Labels and mask as they are when that is done. */
bool item_targets_finish(struct item_targets *m, struct pack_item *p, bool mirrored, bool flipped);
/* The mask of an image that stays as it is stored. */
bool item_targets_keep(struct item_targets *m, struct pack_item *p,
                       const struct imrec_image_info *info);
#endif
