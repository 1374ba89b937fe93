/* formats/tar/tar_write.h - files into a tar archive: POSIX ustar headers, after an extended one
 * (pax) where a name does not fit. */
#ifndef IMREC_FORMATS_TAR_TAR_WRITE_H
#define IMREC_FORMATS_TAR_TAR_WRITE_H

#include "base/buf.h"

#define TAR_RECORD 10240u /* an archive is padded to a multiple of it, as tar does */

/* Appends a file: header, content, padding. name: 1 to TAR_NAME_MAX - 1 bytes without a NUL;
 * content: less than 8 GiB; else IMREC_ERR_LIMIT. The same bytes for the same arguments: mode 0644,
 * owner 0, time 0. */
IMREC_NODISCARD enum imrec_status
tar_write_file(struct buf *out, struct bytes name, struct bytes content, struct imrec_error *err);
/* Zeros that end an archive of `size` bytes. */
size_t tar_end_bytes(uint64_t size);
#endif
