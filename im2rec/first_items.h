/* im2rec/first_items.h - the first items of a source, copied, because they are wanted twice: a
 * source gives each of them once. */
#ifndef IMREC_IM2REC_FIRST_ITEMS_H
#define IMREC_IM2REC_FIRST_ITEMS_H

#include "base/stop.h"
#include "imrec/pack_items.h"

struct first_item {
    struct imrec_pack_item item;
    uint8_t *memory; /* all that it points to; NULL: that is where the source has it */
};

struct first_items { /* zeroed at first */
    struct imrec_pack_source from;
    struct first_item *item;
    uint64_t count, room;
    uint64_t next;         /* to be given */
    bool alone;            /* nothing comes after them */
    enum imrec_status end; /* not IMREC_OK: so the source has ended after them */
    struct imrec_error why;
};

/* Takes items until it has `most`, or `most_bytes`, or there are no more. *source gives these from
 * here on, and then its others. */
IMREC_NODISCARD enum imrec_status
first_items_keep(struct first_items *f, struct imrec_pack_source *source, uint64_t most,
                 uint64_t most_bytes, const struct stop *stop, struct imrec_error *err);
/* The first one is next; alone: they are all that there is, and all stay. */
void first_items_rewind(struct first_items *f, bool alone);
void first_items_free(struct first_items *f);
#endif
