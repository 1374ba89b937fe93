#include "iter/dataset_check.h"

#include "base/error.h"
#include "formats/wav.h"

enum imrec_status check_picture(struct codec *c, struct bytes image, int64_t max_pixels,
                                uint32_t *warnings, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = max_pixels};
    struct imrec_picture_info info;
    struct wav sound;
    *warnings = 0;
    if (wav_is(image))
        return wav_parse(image, &sound, err);
    IMREC_TRY(codec_begin(c, image, &limits, &info, err));
    return codec_check(c, warnings, err);
}
