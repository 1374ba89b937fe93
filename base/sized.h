/* base/sized.h - public options structs, which begin with struct_size: the size that the caller's
 * header has. Fields after the known ones, on either side, are those of a later version. */
#ifndef IMREC_BASE_SIZED_H
#define IMREC_BASE_SIZED_H

#include "imrec/error.h"

/* Sets the caller's struct to the defaults, and what they lack to 0. */
void sized_init(void *to, size_t size, const void *defaults, size_t ours);

/* Copies what the caller's struct has over *to, which holds the defaults, ours bytes. init: the
 * function that the caller should have called. A field that is unknown here must be 0. */
IMREC_NODISCARD enum imrec_status
sized_copy(void *to, size_t ours, const void *from, const char *init, struct imrec_error *err);
#endif
