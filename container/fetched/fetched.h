/* container/fetched/fetched.h - a set whose records a function of the caller fetches by number. */
#ifndef IMREC_CONTAINER_FETCHED_H
#define IMREC_CONTAINER_FETCHED_H

#include "container/container.h"
#include "imrec/fetch.h"

/* Copies what the caller knows of the struct, and checks it. */
IMREC_NODISCARD enum imrec_status
fetched_copy(struct imrec_fetch *to, const struct imrec_fetch *from, struct imrec_error *err);
/* Of a copy that was checked. */
IMREC_NODISCARD enum imrec_status fetched_open(const struct container_options *o,
                                               const struct imrec_fetch *f, struct container *out,
                                               struct imrec_error *err);
#endif
