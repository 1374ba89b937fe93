/* storage/store/io_error.c - one sentence about what the system refused. */
#include "storage/store/io_error.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

enum imrec_status
io_error(struct imrec_error *err, int code, const char *path, const char *what, uint64_t offset)
{
    char why[128];
    if (strerror_r(code, why, sizeof(why)) != 0)
        why[0] = '\0';
    if (offset == IMREC_NO_OFFSET)
        imrec_error_at(err, IMREC_ERR_IO, offset, "%s: %s: %s", path, what, why);
    else
        imrec_error_at(err, IMREC_ERR_IO, offset, "%s: %s at byte %" PRIu64 ": %s", path, what,
                       offset, why);
    imrec_error_file(err, path);
    imrec_error_errno(err, code);
    return IMREC_ERR_IO;
}
