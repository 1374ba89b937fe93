/* codec/jpeg/jpeg_scratch.c - a buffer that is kept from image to image, unless it is large. */
#include "codec/jpeg/jpeg_scratch.h"

#include "base/alloc.h"

void scratch_drop(struct scratch *s)
{
    imrec_free(s->p);
    *s = (struct scratch){0};
}

bool scratch_reserve(struct scratch *s, size_t bytes)
{
    if (bytes <= s->bytes)
        return true;
    scratch_drop(s);
    s->p = imrec_realloc(NULL, bytes, 1);
    s->bytes = s->p != NULL ? bytes : 0;
    return s->p != NULL;
}

void *scratch_aligned(const struct scratch *s)
{
    const size_t beyond = (uintptr_t)s->p % SCRATCH_ALIGNMENT;
    return s->p + (beyond != 0 ? SCRATCH_ALIGNMENT - beyond : 0);
}

void scratch_trim(struct scratch *s)
{
    if (s->bytes > SCRATCH_KEPT_BYTES) /* no reason to hold it for ever */
        scratch_drop(s);
}
