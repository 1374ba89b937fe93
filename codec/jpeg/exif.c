/*
 * codec/jpeg/exif.c - the orientation out of an EXIF block (Exif 2.3, section 4.5; TIFF 6.0):
 *     "II*\0" or "MM\0*" | u32 offset of the first directory
 *     directory: u16 entries | entries of 12 bytes: u16 tag, u16 type, u32 count, value
 */
#include "codec/jpeg/exif.h"

#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, ENTRY_BYTES = 12 };

static uint32_t get16(const uint8_t *p, bool big)
{
    return big ? load_be16(p) : load_le16(p);
}

uint32_t exif_orientation(struct bytes tiff)
{
    if (tiff.n < 8 || (memcmp(tiff.p, "II*", 4) != 0 && memcmp(tiff.p, "MM\0*", 4) != 0))
        return 1;
    const bool big = tiff.p[0] == 'M';
    const size_t at = big ? load_be32(tiff.p + 4) : load_le32(tiff.p + 4);
    if (at > tiff.n || tiff.n - at < 2)
        return 1;
    size_t entries = get16(tiff.p + at, big);
    const uint8_t *e = tiff.p + at + 2, *end = tiff.p + tiff.n;
    for (; entries > 0 && (size_t)(end - e) >= ENTRY_BYTES; entries--, e += ENTRY_BYTES) {
        if (get16(e, big) != TAG_ORIENTATION)
            continue;
        const uint32_t v = get16(e + 8, big);
        return get16(e + 2, big) == TYPE_SHORT && v >= 1 && v <= 8 ? v : 1;
    }
    return 1;
}
