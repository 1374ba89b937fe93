/* tests/support/built.h - what this build can read: formats of optional libraries. */
#ifndef IMREC_TESTS_BUILT_H
#define IMREC_TESTS_BUILT_H

#include "codec/codec.h"

#include <string.h>

static inline bool built_with(const char *format)
{
    for (const char *const *f = codec_formats(); *f != NULL; f++)
        if (strcmp(*f, format) == 0)
            return true;
    return false;
}

static inline bool built_with_png(void) /* for CASE(.begin = built_with_png) */
{
    return built_with("png");
}

/* Whether an error is that of a format this build was made without. */
static inline bool built_without(enum imrec_status st, const struct imrec_error *err)
{
    return (st == IMREC_ERR_UNSUPPORTED || st == IMREC_ERR_DATA) &&
           strstr(err->message, "; this build ") != NULL;
}
#endif
