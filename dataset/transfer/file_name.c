/* dataset/transfer/file_name.c */
#include "dataset/transfer/file_name.h"

#include <strings.h>

static bool is_taken(struct bytes name)
{
    static const char *const names[] = {FILE_LABELS, FILE_IDS};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (name.n == strlen(names[i]) && strncasecmp((const char *)name.p, names[i], name.n) == 0)
            return true;
    return false;
}

enum imrec_status
extension_write(struct buf *to, struct bytes name, uint64_t repeat, struct imrec_error *err)
{
    return field_extension(to, name, is_taken(name), repeat, err);
}
