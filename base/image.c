/* base/image.c - pixels that a worker owns and uses again. */
#include "base/image.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

enum imrec_status image_resize_buffer(struct image *i, uint32_t width, uint32_t height,
                                      uint32_t channels, struct imrec_error *err)
{
    size_t stride, bytes;
    if (!mul_fits(width, channels, &stride) || !mul_fits(stride, height, &bytes) || bytes == 0)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "an image of %u x %u px, %u channels, has no size in memory", width,
                          height, channels);
    if (bytes > i->capacity) {
        image_free(i); /* contents need not survive: no copy */
        i->view.pixels = imrec_realloc(NULL, bytes, 1);
        if (i->view.pixels == NULL)
            return IMREC_NO_MEMORY(err, "no memory for an image of %u x %u px", width, height);
        i->capacity = bytes;
    }
    i->view = (struct imrec_image){i->view.pixels, stride, width, height, channels};
    return IMREC_OK;
}

bool image_is_within(uint64_t width, uint64_t height, int64_t max_pixels)
{
    return width <= IMAGE_MOST_SIDE && height <= IMAGE_MOST_SIDE &&
           (max_pixels < 0 || width * height <= (uint64_t)max_pixels);
}

void image_free(struct image *i)
{
    imrec_free(i->view.pixels);
    *i = (struct image){0};
}
