/* formats/image_names.c - which names are those of images. */
#include "formats/image_names.h"

#include <string.h>

const char *const *image_extensions(void)
{
    static const char *const names[] = {
        ".jpg",
        ".jpeg",
        ".jpe",
        ".jfif",
#if IMREC_HAVE_SPNG
        ".png",
#endif
#if IMREC_HAVE_GIF
        ".gif",
#endif
#if IMREC_HAVE_WEBP
        ".webp",
#endif
#if IMREC_HAVE_TIFF
        ".tif",
        ".tiff",
#endif
        ".bmp",
        ".dib",
        NULL
    };
    return names;
}

const char *image_extension(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && strspn(name, ".") < (size_t)(dot - name) ? dot : "";
}

bool image_extension_same(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char x = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] + 32) : a[i];
        const char y = b[i] >= 'A' && b[i] <= 'Z' ? (char)(b[i] + 32) : b[i];
        if (x != y)
            return false;
    }
    return true;
}

bool image_extension_is(const char *extension, const char *const *list)
{
    const size_t n = strlen(extension);
    for (; n != 0 && *list != NULL; list++)
        if (strlen(*list) == n && image_extension_same(*list, extension, n))
            return true;
    return false;
}
