/* im2rec/item/packer_state.h - a worker and the image that it has in hand: what the files share
 * that read, plan, make and frame it. */
#ifndef IMREC_IM2REC_ITEM_PACKER_STATE_H
#define IMREC_IM2REC_ITEM_PACKER_STATE_H

#include "codec/jpeg_encode.h"
#include "formats/recordio/recordio.h"
#include "im2rec/item/image_plan.h"
#include "im2rec/item/item_example.h"
#include "im2rec/item/item_fields.h"
#include "im2rec/item/item_targets.h"
#include "im2rec/item/packer.h"
#include "im2rec/item/quality_target.h"
#include "im2rec/item/read_file.h"
#include "im2rec/shard/shard_writer.h"
#include "imrec/pack_items.h"

#define RECORD_MAX RECORDIO_PART_MAX_BYTES

struct packer {
    const struct imrec_pack_options *o; /* those of the image in hand */
    const struct imrec_pack_options *all, *of_pixels;
    const struct shard_kind *kind;
    const struct file_root *root;
    struct budget *budget;
    struct jpeg_counts *counts; /* of packer_options */
    struct codec *codec;
    struct resize_scratch *scratch;
    struct image decoded, upright, resized;
    struct file_bytes file;
    struct imrec_image pixels; /* in `file`, of an image that came as pixels */
    struct buf head, record;
    struct buf labels; /* as the image came with them */
    bool augments;
    struct augmenting augmenting;
    struct item_targets targets;
    struct item_fields fields;
    struct item_example example;
    struct quality_target target;

    /* the image in hand */
    const struct imrec_pack_item *item; /* while it is being copied */
    bool is_ready;                      /* packer_give() has prepared it */
    bool waits;                         /* it must give back what it holds, and wait for ... */
    struct budget_need wanted;
    uint64_t held;           /* the most since memory was given back */
    bool is_begun, is_sound; /* its header is read, and it is: */
    struct imrec_image_info info;
    struct image_plan plan;
};

/* ---- packer.c ----------------------------------------------------------------------------- */

/* true: continues. Any other status is the image's reason, except a cancelled run. */
bool packer_fine(struct pack_item *p, enum imrec_status st, const struct imrec_error *err);
/* Gives back what a large image has left, and with all of it everything that can be made again. */
void packer_trim(struct packer *k, bool all);

/* The image is to hold so much from here on. false: it never may, or it must begin again, when
 * there is room for what it wants (k->waits). */
bool packer_hold(struct packer *k, struct pack_item *p, struct budget_need need);
/* Gives back what the image holds, then waits for what it wants; false: the run ends. */
bool packer_wait(struct packer *k, struct pack_item *p);

/* The image's bytes, after room for the head of its record. */
static inline struct bytes packer_file(const struct packer *k)
{
    return (struct bytes){k->file.p + k->head.n, k->file.n};
}

/* ---- prepare.c ---------------------------------------------------------------------------- */

/* Makes k->head for the labels as they are now. */
bool packer_head(struct packer *k, struct pack_item *p);
/* Reads the image, or copies it, and plans what becomes of it, with room in the budget for that. */
bool packer_prepare(struct packer *k, struct pack_item *p);
#endif
