/* formats/image_names.h - which names are those of images. */
#ifndef IMREC_FORMATS_IMAGE_NAMES_H
#define IMREC_FORMATS_IMAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The extensions of the formats that this build reads (".jpg", ".jpeg", ".png", ...: lower case,
 * with the dot), NULL at the end. */
const char *const *image_extensions(void);
/* As os.path.splitext: the text from the last dot that has something but dots before it; "" where
 * there is none. */
const char *image_extension(const char *name);
/* Whether it is one of `list`, NULL at its end, upper case and lower case being the same (of ASCII,
 * in every locale). */
bool image_extension_is(const char *extension, const char *const *list);
/* n bytes of each, likewise. */
bool image_extension_same(const char *a, const char *b, size_t n);
#endif
