/* im2rec/item/skip_limit.h - how many images a run may skip: max_skipped. */
#ifndef IMREC_IM2REC_ITEM_SKIP_LIMIT_H
#define IMREC_IM2REC_ITEM_SKIP_LIMIT_H

#include "imrec/error.h"

struct skip_limit {
    bool set;
    uint64_t images;    /* "10" */
    uint64_t millionth; /* "0.5%": in millionths of a per cent; UINT64_MAX: it is images */
};

/* "": there is none. Text other than a whole number or a share of 0% to 100%, with at most six
 * digits after the point, is IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
skip_limit_parse(const char *text, struct skip_limit *out, struct imrec_error *err);
/* The most images of `total` that may be skipped; UINT64_MAX: there is no limit. */
uint64_t skip_limit_of(const struct skip_limit *l, uint64_t total);
/* The same as long as nobody knows how many images there will be: a share is no limit yet. */
uint64_t skip_limit_of_some(const struct skip_limit *l);
#endif
