/* im2rec/items.h - the images that a caller hands over, one after the other, in place of a list. */
#ifndef IMREC_IM2REC_ITEMS_H
#define IMREC_IM2REC_ITEMS_H

#include "im2rec/item/packer.h"
#include "im2rec/list/job.h"
#include "imrec/pack_items.h"

struct items {
    struct imrec_pack_source source;
    struct imrec_pack_options of_pixels; /* what becomes of items that are pixels */
    const struct job *job;
    uint64_t given, copy;        /* items so far; records that were made of the newest */
    struct imrec_pack_item item; /* the newest */
    uint32_t label_count;        /* of the first that was not refused ... */
    bool counted;                /* ... which there was */
    bool boxes;                  /* its labels are boxes: others may have other numbers of them */
};

/* Checks the source and what the options ask of it, and makes *job what the writer needs to know:
 * class list, number of records, fingerprint. */
IMREC_NODISCARD enum imrec_status items_open(const struct imrec_pack_source *source,
                                             const struct imrec_pack_task *task,
                                             const struct imrec_pack_options *o, struct job *job,
                                             struct items *out, struct imrec_error *err);

/* Asks the source for the item that becomes record `index`, and hands its bytes or pixels to the
 * worker that will pack it. What is wrong with the image ends in *p, as job_next() has it.
 * IMREC_END: there are no more. One thread at a time; err is not NULL. */
IMREC_NODISCARD enum imrec_status items_next(struct items *s, struct packer *k, uint64_t index,
                                             struct pack_item *p, struct imrec_error *err);
#endif
