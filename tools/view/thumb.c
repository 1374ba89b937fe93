/* tools/view/thumb.c - small JPEGs of images as they are packed. */
#include "tools/view/thumb.h"

#include "cli/memory.h"

#include <string.h>

/* Can a browser show the bytes as they are? Its type, or NULL. */
const char *thumb_mime(const struct imrec_image_info *i)
{
    static const char *const types[][2] = {{"jpeg", "image/jpeg"},
                                           {"png", "image/png"},
                                           {"gif", "image/gif"},
                                           {"webp", "image/webp"},
                                           {"bmp", "image/bmp"}};
    if (i->gzip || i->cmyk || strcmp(i->kind, "arithmetic") == 0)
        return NULL;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        if (strcmp(i->format, types[t][0]) == 0)
            return types[t][1];
    return NULL;
}

enum imrec_status thumb_make(struct imrec_decoder *decoder, const struct imrec_record *r,
                             uint32_t px, const void **bytes, size_t *n, struct imrec_error *err)
{
    struct imrec_image image;
    enum imrec_status st = imrec_decoder_decode(decoder, r->image, r->image_size, 3, true,
                                                INT64_C(178956970), &image, err);
    if (st != IMREC_OK)
        return st;
    const uint32_t side = image.width < image.height ? image.width : image.height;
    if (side <= px)
        return imrec_decoder_encode_jpeg(decoder, &image, 90, bytes, n, err);
    struct imrec_image thumb = {.width = (uint32_t)((uint64_t)image.width * px / side),
                                .height = (uint32_t)((uint64_t)image.height * px / side),
                                .channels = 3};
    thumb.stride = (size_t)thumb.width * 3;
    thumb.pixels = cli_realloc(NULL, thumb.height, thumb.stride);
    st = imrec_image_resize(&image, &thumb, 3, err);
    if (st == IMREC_OK)
        st = imrec_decoder_encode_jpeg(decoder, &thumb, 88, bytes, n, err);
    cli_free(thumb.pixels);
    return st;
}
