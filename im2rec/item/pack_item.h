/* im2rec/item/pack_item.h - one image on its way: from its line of the list to a framed record. */
#ifndef IMREC_IM2REC_ITEM_PACK_ITEM_H
#define IMREC_IM2REC_ITEM_PACK_ITEM_H

#include "base/buf.h"
#include "im2rec/item/budget.h"
#include "im2rec/item/fetch.h"
#include "im2rec/item/image_place.h"
#include "im2rec/item/tally.h"

#define IMAGE_PATH_MAX 4096u

/* Where the image comes from: its file, or what packer_give() has copied. */
enum pack_item_from { PARCEL_FILE, PARCEL_BYTES, PARCEL_PIXELS };

/* A place of the window. The list fills the first part, a worker the second. */
struct pack_item {
    uint64_t line, id;    /* line of the list file, from 1; 0: a folder was scanned */
    uint64_t copy;        /* of an image that several records are made of, from 0 */
    struct buf text;      /* what the list says of the file: */
    struct bytes path;    /* below the root; a view of text, whose end it is */
    struct bytes columns; /* of its line after the path, with tabs between; a view of text */
    struct image_place place;
    struct buf labels; /* floats */
    uint32_t label_count;
    uint32_t class_count; /* a single label is the number of one of them; 0: it is any number */
    enum pack_item_from from;
    struct fetch *fetch; /* of its file, which was begun early; or NULL */

    struct outcome outcome;
    char why[512];     /* the sentence for outcome.reason, or the corrections */
    uint32_t crc;      /* crc32c of: */
    struct buf record; /* framed */
    struct budget_share share;
    enum imrec_status failed; /* not the image's fault: the run ends here */
};

void pack_item_begin(struct pack_item *p); /* empties the first part, and says nothing is wrong */
/* Its place can be used again; a large record's memory is given back before the budget's is. */
void pack_item_written(struct pack_item *p);
void pack_item_unfetch(struct pack_item *p); /* its file is not needed any more */
void pack_item_free(struct pack_item *p);    /* zeroed memory is fine */

__attribute__((format(printf, 3, 4))) void
pack_item_skip(struct pack_item *p, enum reason reason, const char *fmt, ...);
/* Whether the run was cancelled, which is not a fault of the image; p records it. */
bool pack_item_cancelled(struct pack_item *p, enum imrec_status st, const struct imrec_error *err);
/* Sets outcome.class_index. false: the label is the number of no class, which is the reason. */
bool pack_item_check_class(struct pack_item *p);
/* Skips a name that a list cannot hold, as reason_of_name() found. */
void pack_item_check_name(struct pack_item *p);
#endif
