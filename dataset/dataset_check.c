/* dataset/dataset_check.c - does an image decode, whole? Or is a sound one? */
#include "dataset/dataset_check.h"

#include "base/error.h"
#include "codec/mask_png.h"
#include "codec/wav.h"
#include "formats/recordio/record_fields.h"

static enum imrec_status check_mask(struct codec *c, struct bytes png, int64_t max_pixels,
                                    const struct imrec_image_info *image, struct imrec_error *err)
{
    struct mask m = {0};
    if (png.n == 0)
        return IMREC_OK;
    enum imrec_status st = codec_decode_mask(c, png, max_pixels, &m, err);
    if (st == IMREC_OK && (m.width != image->width || m.height != image->height))
        st = imrec_fail(err, IMREC_ERR_CORRUPT, "the mask has %u x %u px, its image %u x %u",
                        m.width, m.height, image->width, image->height);
    mask_free(&m);
    return st;
}

enum imrec_status check_image(struct codec *c, struct bytes image, struct bytes mask,
                              int64_t max_pixels, uint32_t *warnings, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = max_pixels};
    struct imrec_image_info info;
    struct wav sound;
    struct record_payload payload = {.image = image, .mask = mask};
    *warnings = 0;
    if (wav_is(image))
        return wav_parse(image, &sound, err);
    if (mask.n == 0)
        IMREC_TRY(record_payload_split(image, &payload, err));
    IMREC_TRY(codec_begin(c, payload.image, &limits, &info, err));
    IMREC_TRY(codec_check(c, warnings, err));
    return check_mask(c, mask.n != 0 ? mask : payload.mask, max_pixels, &info, err);
}
