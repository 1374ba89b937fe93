/* container/folder/reason.h - why an image is not packed: one word for counting, one sentence for
 * people. */
#ifndef IMREC_CONTAINER_FOLDER_REASON_H
#define IMREC_CONTAINER_FOLDER_REASON_H

#include "base/bytes.h"

enum reason {
    REASON_NONE, /* packed */
    REASON_MISSING,
    REASON_UNREADABLE,
    REASON_NOT_A_FILE, /* FIFO, device, socket */
    REASON_FOLDER,
    REASON_NAME, /* a newline or another control character */
    REASON_UTF8,
    REASON_OUTSIDE, /* of every class */
    REASON_LINK,    /* leads nowhere, or back */
    REASON_LINE,    /* of the list is malformed */
    REASON_EMPTY,
    REASON_TOO_LARGE,
    REASON_UNSUPPORTED, /* no image, or of a format that is not built in */
    REASON_DAMAGED,
    REASON_MASK,    /* missing, of another size, no mask at all */
    REASON_LABEL,   /* of a sample in an archive: missing, no number */
    REASON_QUALITY, /* no quality reaches what was asked for */
    REASON_FIELD,   /* a file of fields: missing, unreadable */
    REASON_NO_MEMORY,
    REASON_COUNT
};

const char *reason_word(enum reason r);              /* "missing"; static */
enum reason reason_find(const char *word, size_t n); /* REASON_NONE: no such word */

/* Whether a list can hold a name: REASON_NONE, REASON_NAME or REASON_UTF8. */
enum reason reason_of_name(struct bytes name);
#endif
