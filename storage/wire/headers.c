/* storage/wire/headers.c - the headers of a request, in room of their own. */
#include "storage/wire/wire.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum imrec_status
wire_headers_add(struct wire_headers *h, struct imrec_error *err, const char *fmt, ...)
{
    const size_t room = sizeof(h->text) - h->used;
    char *to = h->text + h->used;
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(to, room, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= room || h->count == WIRE_HEADERS)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "the headers of a request have more than %d bytes: a session's token is "
                          "at most 4096 long",
                          WIRE_HEADER_BYTES);
    if (strpbrk(to, "\r\n") != NULL) /* it would be a header of somebody else's */
        return IMREC_REFUSE(err, "a header of a request has a line end in it");
    h->line[h->count++] = to;
    h->used += (size_t)n + 1;
    return IMREC_OK;
}
