/*
 * examples/augmenter/sparkle.c - an augmenter in a shared library: white dots at random places.
 *
 *     aug_seq=aug_default,./libsparkle.so:sparkle(50)
 *
 * The number in parentheses is the number of dots (default 10).
 */
#include <imrec/augmenter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum imrec_status
make_sparkle(const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    const struct imrec_image *p = &call->image;
    char *end;
    const unsigned long dots = call->params[0] != '\0' ? strtoul(call->params, &end, 10) : 10;
    if (call->params[0] != '\0' && (*end != '\0' || dots > 10000)) {
        snprintf(err->message, sizeof(err->message), "'%s' is not a number of dots", call->params);
        return IMREC_ERR_ARGUMENT;
    }
    for (unsigned long i = 0; i < dots; i++) {
        const uint64_t bits = imrec_augmenter_bits(&call->key, (uint32_t)i);
        const uint32_t x = (uint32_t)(bits % p->width), y = (uint32_t)((bits >> 32) % p->height);
        memset(p->pixels + y * p->stride + (size_t)x * p->channels, 255, p->channels);
    }
    return IMREC_OK;
}

IMREC_AUGMENTER(sparkle, make_sparkle);
