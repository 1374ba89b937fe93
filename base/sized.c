/* base/sized.c */
#include "base/sized.h"

#include "base/error.h"

#include <string.h>

enum { MAX_BYTES = 1 << 16 }; /* more is not a size */

void sized_init(void *to, size_t size, const void *defaults, size_t ours)
{
    memset(to, 0, size);
    memcpy(to, defaults, size < ours ? size : ours);
    memcpy(to, &size, sizeof(size));
}

enum imrec_status
sized_copy(void *to, size_t ours, const void *from, const char *init, struct imrec_error *err)
{
    const uint8_t *p = from;
    size_t size = 0;
    if (from != NULL)
        memcpy(&size, from, sizeof(size));
    if (size < sizeof(size) || size > MAX_BYTES)
        return IMREC_REFUSE(err, "struct_size is not set: call %s() first", init);
    for (size_t i = ours; i < size; i++)
        if (p[i] != 0)
            return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                              "an option that came after this library is set (byte %zu; "
                              "%s() of this library knows %zu)",
                              i, init, ours);
    memcpy(to, from, size < ours ? size : ours);
    memcpy(to, &ours, sizeof(ours));
    return IMREC_OK;
}
