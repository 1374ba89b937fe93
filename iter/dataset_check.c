#include "iter/dataset_check.h"

#include "base/error.h"

enum imrec_status check_picture(struct codec *c, struct bytes image, int64_t max_pixels,
                                uint32_t *warnings, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = max_pixels};
    struct imrec_picture_info info;
    *warnings = 0;
    IMREC_TRY(codec_begin(c, image, &limits, &info, err));
    return codec_check(c, warnings, err);
}
