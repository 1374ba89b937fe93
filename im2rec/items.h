/* im2rec/items.h - the images that a caller hands over, one after the other, in place of a list. */
#ifndef IMREC_IM2REC_ITEMS_H
#define IMREC_IM2REC_ITEMS_H

#include "im2rec/first_items.h"
#include "im2rec/item/packer.h"
#include "im2rec/list/job.h"
#include "imrec/pack_items.h"

/* Labels of the first item that was not refused: all others have as many. */
struct item_labels {
    uint32_t count;
    bool known; /* there was one */
    bool boxes; /* its labels are boxes: others may have other numbers of them */
};

struct items {
    struct imrec_pack_source source;
    struct imrec_pack_options of_pixels; /* what becomes of items that are pixels */
    const struct job *job;
    uint64_t given, copy;        /* items so far; records that were made of the newest */
    struct imrec_pack_item item; /* the newest */
    struct item_labels labels;
    struct first_items first; /* that were looked at before they are packed */
    bool part; /* of the items of a set; `given` counts those before it: it may have none */
};

/* Checks the source and what the options ask of it, and makes *job what the writer needs to know:
 * class list, number of records, fingerprint. */
IMREC_NODISCARD enum imrec_status items_open(const struct imrec_pack_source *source,
                                             const struct imrec_pack_task *task,
                                             const struct imrec_pack_options *o, struct job *job,
                                             struct items *out, struct imrec_error *err);

/* A part of the items, that begins with item `first` and has any number of them; *job is that of
 * the others. */
IMREC_NODISCARD enum imrec_status
items_open_part(const struct imrec_pack_source *source, const struct imrec_pack_options *o,
                const struct job *job, uint64_t first, const struct item_labels *labels,
                struct items *out, struct imrec_error *err);

void items_close(struct items *s); /* zeroed memory is fine */

/* Asks the source for the item that becomes record `index`, and hands its bytes or pixels to the
 * worker that will pack it; NULL: nobody will. What is wrong with the image ends in *p, as
 * job_next() has it. IMREC_END: there are no more. One thread at a time; err is not NULL. */
IMREC_NODISCARD enum imrec_status items_next(struct items *s, struct packer *k, uint64_t index,
                                             struct pack_item *p, struct imrec_error *err);
#endif
