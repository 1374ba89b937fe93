/* codec/libraries.c - asks each library which one it is. */
#include "codec/libraries.h"

#include <stddef.h>
#include <stdio.h> /* before jpeglib.h, which uses FILE */

#include <jpeglib.h>
#if IMREC_HAVE_SPNG
#include <spng.h>
#endif
#if IMREC_HAVE_WEBP
#include <webp/decode.h>
#endif
#if IMREC_HAVE_TIFF
#include <string.h>
#include <tiffio.h>
#endif
#if IMREC_HAVE_GIF
#include <gif_lib.h>
#endif
#if IMREC_HAVE_ZLIB
#include <zlib.h>
#endif

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)

/* It says its version to no program that runs: this is the one of the headers. */
static const char *jpeg_version(void)
{
#ifdef LIBJPEG_TURBO_VERSION
    return VALUE(LIBJPEG_TURBO_VERSION);
#else
    return "of API " VALUE(JPEG_LIB_VERSION);
#endif
}

static const char *png_version(void)
{
#if IMREC_HAVE_SPNG
    return spng_version_string();
#else
    return NULL;
#endif
}

static const char *webp_version(void)
{
#if IMREC_HAVE_WEBP
    static _Thread_local char text[24];
    const int v = WebPGetDecoderVersion();
    snprintf(text, sizeof(text), "%d.%d.%d", v >> 16 & 255, v >> 8 & 255, v & 255);
    return text;
#else
    return NULL;
#endif
}

/* "LIBTIFF, Version 4.5.0\nCopyright ..." */
static const char *tiff_version(void)
{
#if IMREC_HAVE_TIFF
    static _Thread_local char text[24];
    const char *said = strstr(TIFFGetVersion(), "Version ");
    said = said != NULL ? said + strlen("Version ") : "unknown";
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(said, "\n"), said);
    return text;
#else
    return NULL;
#endif
}

static const char *gif_version(void)
{
#if IMREC_HAVE_GIF
    return VALUE(GIFLIB_MAJOR) "." VALUE(GIFLIB_MINOR) "." VALUE(GIFLIB_RELEASE);
#else
    return NULL;
#endif
}

static const char *gzip_version(void)
{
#if IMREC_HAVE_ZLIB
    return zlibVersion();
#else
    return NULL;
#endif
}

void codec_libraries(struct codec_library out[CODEC_LIBRARIES])
{
    const struct codec_library all[CODEC_LIBRARIES] = {
        {"libjpeg-turbo", "JPEG", "libjpeg-dev", jpeg_version()},
        {"libspng", "PNG", "libspng-dev", png_version()},
        {"libwebp", "WebP", "libwebp-dev", webp_version()},
        {"libtiff", "TIFF", "libtiff-dev", tiff_version()},
        {"giflib", "GIF", "libgif-dev", gif_version()},
        {"zlib", "JPEG in gzip", "zlib1g-dev", gzip_version()},
    };
    for (size_t i = 0; i < CODEC_LIBRARIES; i++)
        out[i] = all[i];
}
