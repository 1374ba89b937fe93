/* tests/support/augmenters.c - a shared library of augmenters, and of what is none. */
#include "imrec/augmenter.h"

#include <string.h>

static enum imrec_status invert(const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    (void)err;
    for (uint32_t y = 0; y < call->image.height; y++)
        for (size_t i = 0; i < (size_t)call->image.width * call->image.channels; i++)
            call->image.pixels[y * call->image.stride + i] ^= 255;
    return IMREC_OK;
}

IMREC_AUGMENTER(inverted, invert);
extern IMREC_API const struct imrec_augmenter older, emptied;
extern IMREC_API const char words[64];
const struct imrec_augmenter older = {IMREC_AUGMENTER_MAGIC, IMREC_AUGMENTER_ABI + 1, invert};
const struct imrec_augmenter emptied = {IMREC_AUGMENTER_MAGIC, IMREC_AUGMENTER_ABI, NULL};
const char words[64] = "no augmenter";
