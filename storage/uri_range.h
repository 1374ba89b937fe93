/* storage/uri_range.h - names with ranges in them: "train-{0000..1281}.tar" is 1,282 of them. */
#ifndef IMREC_STORAGE_URI_RANGE_H
#define IMREC_STORAGE_URI_RANGE_H

#include "imrec/error.h"

#include <stddef.h>

#define URI_RANGE_MOST (UINT64_C(1) << 20) /* names */

/* Where the first range of a text begins; NULL: it has none. Other braces mean themselves. */
const char *uri_range_in(const char *text);

/* Calls found() with every name, as shells order them: the last range runs first. A bound that
 * begins with 0 gives all numbers of its range as many digits as the longer bound has; a range may
 * run down. IMREC_ERR_LIMIT: more than URI_RANGE_MOST names, or one of 4 KiB and more. */
IMREC_NODISCARD enum imrec_status
uri_range_names(const char *text,
                enum imrec_status (*found)(void *user, const char *name, struct imrec_error *err),
                void *user, struct imrec_error *err);
#endif
