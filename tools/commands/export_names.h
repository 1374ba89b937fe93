/* tools/commands/export_names.h - under which names images are written: docs/guide/toolbox.md has
 * the rule. A function of the record, its list and its class, and of how often it was asked. */
#ifndef IMREC_TOOLS_COMMANDS_EXPORT_NAMES_H
#define IMREC_TOOLS_COMMANDS_EXPORT_NAMES_H

#include "imrec/imrec.h"

enum {
    EXPORT_PATH_BYTES = 4096, /* of a path, NUL included */
    EXPORT_PART_BYTES = 255,  /* of a part of it, at most */
    EXPORT_TRIES = 1000,      /* names of an image */
};

struct export_names {
    struct imrec_classes *classes;
    struct imrec_names *names;
    size_t part_most; /* bytes of a part of a path: 255, or what the file system takes */
    size_t path_most; /* of a path below the folder */
};

/* The name number `again` (0: the one that is wanted, more: others, where those are taken) of a
 * record's image, a path below the folder. *shortened: it is not what its list says because that
 * is too long. False: even the shortest is longer than path_most. */
bool export_name(const struct export_names *x, const struct imrec_record *r, unsigned again,
                 char out[EXPORT_PATH_BYTES], bool *shortened);
/* The mask of the image `name`: "masks/", and .png for its extension. */
void export_mask_name(const char *name, char out[EXPORT_PATH_BYTES + 16]);
/* A field of the image `name`: extension[0..n) in place of its extension, shortened where it is too
 * long. False: even so the path is longer than path_most. */
bool export_field_name(const struct export_names *x, const char *name, const char *extension,
                       size_t n, char out[EXPORT_PATH_BYTES]);
#endif
