/* base/mask.c - what each pixel of an image is. */
#include "base/mask.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

enum imrec_status
mask_resize_buffer(struct mask *m, uint32_t width, uint32_t height, struct imrec_error *err)
{
    size_t values, bytes;
    if (!mul_fits(width, height, &values) || !mul_fits(values, sizeof(*m->values), &bytes) ||
        bytes == 0)
        return imrec_fail(err, IMREC_ERR_LIMIT, "a mask of %u x %u px has no size in memory", width,
                          height);
    if (bytes > m->capacity) {
        mask_free(m); /* contents need not survive: no copy */
        m->values = imrec_realloc(NULL, bytes, 1);
        if (m->values == NULL)
            return IMREC_NO_MEMORY(err, "no memory for a mask of %u x %u px", width, height);
        m->capacity = bytes;
    }
    m->width = width;
    m->height = height;
    return IMREC_OK;
}

void mask_free(struct mask *m)
{
    imrec_free(m->values);
    *m = (struct mask){0};
}
