/* storage/store/io_error.h - one sentence about what the system refused. */
#ifndef IMREC_STORAGE_STORE_IO_ERROR_H
#define IMREC_STORAGE_STORE_IO_ERROR_H

#include "imrec/error.h"

/* Fills *err with "PATH: cannot read at byte 17: Input/output error" and returns IMREC_ERR_IO.
 * `code` is the errno; `offset` may be IMREC_NO_OFFSET. */
enum imrec_status
io_error(struct imrec_error *err, int code, const char *path, const char *what, uint64_t offset);
#endif
