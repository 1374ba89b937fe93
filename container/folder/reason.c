/* container/folder/reason.c */
#include "container/folder/reason.h"

#include "formats/text.h"

#include <string.h>

static const char *const words[REASON_COUNT] = {
    [REASON_NONE] = "packed",
    [REASON_MISSING] = "missing",
    [REASON_UNREADABLE] = "unreadable",
    [REASON_NOT_A_FILE] = "not_a_file",
    [REASON_FOLDER] = "folder",
    [REASON_NAME] = "name",
    [REASON_UTF8] = "name_not_utf8",
    [REASON_OUTSIDE] = "outside_a_class",
    [REASON_LINK] = "link",
    [REASON_LINE] = "list_line",
    [REASON_EMPTY] = "empty",
    [REASON_TOO_LARGE] = "too_large",
    [REASON_UNSUPPORTED] = "unsupported",
    [REASON_DAMAGED] = "damaged",
    [REASON_MASK] = "mask",
    [REASON_LABEL] = "label",
    [REASON_QUALITY] = "quality_target",
    [REASON_FIELD] = "field",
    [REASON_NO_MEMORY] = "no_memory",
};

const char *reason_word(enum reason r)
{
    return words[r];
}

enum reason reason_find(const char *word, size_t n)
{
    for (int r = 1; r < REASON_COUNT; r++)
        if (strlen(words[r]) == n && memcmp(words[r], word, n) == 0)
            return (enum reason)r;
    return REASON_NONE;
}

enum reason reason_of_name(struct bytes name)
{
    if (!text_is_utf8(name))
        return REASON_UTF8;
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < 0x20 || name.p[i] == 0x7f)
            return REASON_NAME;
    return REASON_NONE;
}
