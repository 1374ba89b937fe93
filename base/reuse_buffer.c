/* base/reuse_buffer.c */
#include "base/reuse_buffer.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pages.h"

#include <inttypes.h>

enum { PAGES_FROM = 1 << 20 }; /* bytes */

enum imrec_status reuse_buffer_reserve(struct reuse_buffer *r, uint64_t count, size_t size,
                                       const char *what, struct imrec_error *err)
{
    size_t bytes;
    if (count > SIZE_MAX || !mul_fits((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "%s of %" PRIu64 " items of %zu bytes is more than memory can be", what,
                          count, size);
    if (bytes <= r->bytes && r->p != NULL)
        return IMREC_OK;
    reuse_buffer_free(r);
    bytes += bytes / 8 + 64; /* the next one may be a little larger */
    r->pages = bytes >= PAGES_FROM;
    r->p = r->pages ? pages_alloc(bytes) : imrec_realloc(NULL, bytes, 1);
    if (r->p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %s: %zu bytes", what, bytes);
    r->bytes = bytes;
    return IMREC_OK;
}

void reuse_buffer_free(struct reuse_buffer *r)
{
    if (r->pages)
        pages_free(r->p, r->bytes);
    else
        imrec_free(r->p);
    *r = (struct reuse_buffer){0};
}
