/* base/orientation.c - the eight EXIF orientations (Exif 2.3, tag 0x0112: which side of the
 * upright image the stored row 0 and column 0 are). Each is a swap of the axes or none, then
 * a flip of the stored column, of the stored row, of both or of none. */
#include "base/orientation.h"

bool orient_swaps(uint32_t orientation)
{
    return orientation >= 5 && orientation <= 8;
}

bool orient_flips_column(uint32_t o)
{
    return o == 2 || o == 3 || o == 7 || o == 8;
}

bool orient_flips_row(uint32_t o)
{
    return o == 3 || o == 4 || o == 6 || o == 7;
}

struct imrec_rect
orient_region(uint32_t orientation, uint32_t width, uint32_t height, struct imrec_rect upright)
{
    struct imrec_rect r = upright;
    if (orient_swaps(orientation))
        r = (struct imrec_rect){upright.y, upright.x, upright.height, upright.width};
    if (orient_flips_column(orientation))
        r.x = width - r.x - r.width;
    if (orient_flips_row(orientation))
        r.y = height - r.y - r.height;
    return r;
}
