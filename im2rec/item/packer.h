/* im2rec/item/packer.h - makes framed records of images: a worker, which keeps its memory between
 * them. */
#ifndef IMREC_IM2REC_ITEM_PACKER_H
#define IMREC_IM2REC_ITEM_PACKER_H

#include "im2rec/item/pack_item.h"

/* What a worker keeps between images. */
struct packer;
struct file_root;
struct jpeg_tables;
struct jpeg_counts;
struct packer_options {
    const struct imrec_pack_options *all;
    const struct imrec_pack_options *of_pixels; /* of images that come as pixels; NULL: none do */
    const struct file_root *root;
    struct budget *budget;
    const struct jpeg_tables *tables; /* that JPEGs share; NULL: each has optimal ones */
    struct jpeg_counts *counts;       /* NULL, or where the symbols of JPEGs are added: nothing else
                                         of an image is wanted */
};
IMREC_NODISCARD enum imrec_status
packer_new(const struct packer_options *o, struct packer **out, struct imrec_error *err);
void packer_free(struct packer *p); /* NULL is allowed */

/* Copies an item's bytes or pixels, which wait in *k for packer_run() on the same pack item; an
 * item that is a path has none. Waits for room in the budget. What is wrong is in p's outcome, or
 * in p->failed. */
struct imrec_pack_item;
void packer_give(struct packer *k, struct pack_item *p, const struct imrec_pack_item *item);

/* Reads, decodes, turns upright, crops, resamples, encodes and frames. What is wrong with the
 * image ends in its outcome, what is wrong with us in p->failed and p->why. */
void packer_run(struct packer *k, struct pack_item *p);
#endif
