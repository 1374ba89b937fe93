/* formats/recordio/record_mask.c - a mask after the image of an image record. */
#include "formats/recordio/record_mask.h"

#include "base/error.h"
#include "formats/crc32c.h"
#include "imrec/segmentation.h"

#include <string.h>

enum { CRC_AT = 4, MAGIC_AT = 8, MAGIC_BYTES = 8 };
/* Its first byte and its line feeds have the purpose they have in PNG's signature: to show damage
 * by a text transfer. */
static const uint8_t magic[MAGIC_BYTES] = {0x8b, 'm', 'a', 's', 'k', '1', '\r', '\n'};

enum imrec_status record_mask_split(struct bytes payload, struct bytes *image, struct bytes *mask,
                                    struct imrec_error *err)
{
    *image = payload;
    *mask = (struct bytes){NULL, 0};
    if (payload.n < RECORD_MASK_TRAILER_BYTES)
        return IMREC_OK;
    const size_t before = payload.n - RECORD_MASK_TRAILER_BYTES;
    const uint8_t *trailer = payload.p + before;
    if (memcmp(trailer + MAGIC_AT, magic, MAGIC_BYTES) != 0)
        return IMREC_OK;
    const uint32_t n = load_le32(trailer);
    if (n == 0 || n > before)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the trailer says that the mask has %u bytes; 1 to %zu are before it", n,
                          before);
    const struct bytes found = {trailer - n, n};
    const uint32_t crc = crc32c(0, found.p, n);
    if (crc != load_le32(trailer + CRC_AT))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the %u bytes of the mask have the CRC-32C %08x, its trailer says %08x",
                          n, crc, load_le32(trailer + CRC_AT));
    *mask = found;
    image->n = before - n;
    return IMREC_OK;
}

void record_mask_trailer(struct bytes mask, uint8_t out[RECORD_MASK_TRAILER_BYTES])
{
    store_le32(out, (uint32_t)mask.n);
    store_le32(out + CRC_AT, crc32c(0, mask.p, mask.n));
    memcpy(out + MAGIC_AT, magic, MAGIC_BYTES);
}

/* ---- public -------------------------------------------------------------------------------- */

_Static_assert(IMREC_MASK_TRAILER_BYTES == RECORD_MASK_TRAILER_BYTES, "one trailer");

void imrec_mask_trailer(const void *mask, size_t n, void *out)
{
    record_mask_trailer((struct bytes){mask, n}, out);
}

enum imrec_status imrec_mask_split(const void *payload, size_t n, size_t *image_bytes,
                                   size_t *mask_bytes, struct imrec_error *err)
{
    struct bytes image, mask;
    const enum imrec_status st = record_mask_split((struct bytes){payload, n}, &image, &mask, err);
    *image_bytes = image.n;
    *mask_bytes = mask.n;
    return st;
}
