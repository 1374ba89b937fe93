/* storage/at_once.h - the same for many things, by threads that mostly wait for other machines. */
#ifndef IMREC_STORAGE_AT_ONCE_H
#define IMREC_STORAGE_AT_ONCE_H

#include "imrec/error.h"

/* For thing i; any thread. */
typedef enum imrec_status at_once_fn(void *context, uint32_t i, struct imrec_error *err);

/* Calls `each` for 0 to count - 1, up to 64 at once where `far`, in the scope of
 * the calling thread and with what it has listed, else one after the other. After a
 * failure no further ones begin; the error is that of the first thing that failed. */
IMREC_NODISCARD enum imrec_status
at_once(uint32_t count, bool far, at_once_fn *each, void *context, struct imrec_error *err);
#endif
