/* tools/commands/export_fields.h - the fields of an image as files next to it: its path with the
 * field's name for its extension, so that `im2rec --fields` packs them again. */
#ifndef IMREC_TOOLS_COMMANDS_EXPORT_FIELDS_H
#define IMREC_TOOLS_COMMANDS_EXPORT_FIELDS_H

#include "base/buf.h"
#include "tools/commands/export_files.h"
#include "tools/commands/export_names.h"

struct export_fields { /* of the record in hand; reused */
    enum export_place *place;
    uint64_t room;
    char path[EXPORT_PATH_BYTES]; /* of the field in hand */
    struct buf extension, text;
};

#define EXPORT_FIELDS_INIT                                                                         \
    ((struct export_fields){.extension = BUF_INIT(1 << 20), .text = BUF_INIT(1 << 30)})
void export_fields_free(struct export_fields *x);

/* Names for the fields of a record whose image is called `image`, all but its mask. False: one of
 * them is taken, or too long. */
bool export_fields_look(struct export_fields *x, const struct export_names *names,
                        const struct export_files *files, const struct imrec_record *r,
                        const char *image);
/* Writes them, as the last call of export_fields_look() has named them. *count and *bytes are
 * raised. False after one line on stderr. */
bool export_fields_put(struct export_fields *x, const struct export_names *names,
                       struct export_files *files, const struct imrec_record *r, const char *image,
                       uint64_t *count, uint64_t *bytes);
#endif
