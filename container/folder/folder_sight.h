/* container/folder/folder_sight.h - a look at a folder: whether it can be a set of images. */
#ifndef IMREC_CONTAINER_FOLDER_FOLDER_SIGHT_H
#define IMREC_CONTAINER_FOLDER_FOLDER_SIGHT_H

#include "imrec/error.h"

#include <stdbool.h>

#define FOLDER_NAME_BYTES 256

/* Whether it is a folder that holds a file with the name of an image or a sound, or a folder, each
 * without a dot before its name. What cannot be listed does not. */
IMREC_NODISCARD enum imrec_status
folder_may_be_set(const char *folder, bool *out, struct imrec_error *err);
/* Whether it is a folder that can be listed, whatever it holds. */
IMREC_NODISCARD enum imrec_status
folder_is_there(const char *uri, bool *out, struct imrec_error *err);
/* The first folder in it, by bytes and without a dot before its name, that itself holds such a
 * file; "": there is none. */
IMREC_NODISCARD enum imrec_status
folder_class_in(const char *folder, char out[FOLDER_NAME_BYTES], struct imrec_error *err);
#endif
