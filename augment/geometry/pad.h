/* augment/geometry/pad.h - one colour around an image, for a window of the result only. */
#ifndef IMREC_AUGMENT_GEOMETRY_PAD_H
#define IMREC_AUGMENT_GEOMETRY_PAD_H

#include "base/image.h"

struct pad_job {
    uint32_t from_width, from_height; /* of the whole source image */
    uint32_t left, top;               /* px before it */
    struct imrec_rect window;         /* of the result */
    uint8_t fill[4];                  /* of each channel */
};
/* The part of the source under the window, or, where there is none, its pixel nearest to it. */
struct imrec_rect pad_source_region(const struct pad_job *job);
/* `from` holds that part; *to becomes the window. */
IMREC_NODISCARD enum imrec_status pad_window(const struct pad_job *job,
                                             const struct imrec_image *from, struct image *to,
                                             struct imrec_error *err);
#endif
