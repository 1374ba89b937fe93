/* formats/file_kind.h - what a file is, by its first bytes: for errors where a shard is expected.
 */
#ifndef IMREC_FORMATS_FILE_KIND_H
#define IMREC_FORMATS_FILE_KIND_H

#include "base/bytes.h"

#include <stdbool.h>

#define FILE_KIND_BYTES 512u /* of the begin of a file: enough for every kind */

enum file_kind_weight {
    FILE_KIND_NONE,  /* unknown */
    FILE_KIND_GUESS, /* text and zeros: damage can look like them */
    FILE_KIND_INDEX, /* sure, and an .idx: there may be a .rec of its name */
    FILE_KIND_SURE,
};

struct file_kind { /* static texts */
    enum file_kind_weight weight;
    const char *words;   /* "a JPEG image"; NULL: unknown */
    const char *instead; /* what to do with such a file, a clause; NULL: nothing to say */
};

/* `first`: the first FILE_KIND_BYTES of the file, or all of a shorter one. RecordIO and CNTK's
 * binary format are not among the kinds: those have modules of their own. Pure. */
struct file_kind file_kind_of(struct bytes first);
/* Whether nothing else looks like this, not even with damage. */
static inline bool file_kind_is_sure(const struct file_kind *k)
{
    return k->weight == FILE_KIND_SURE || k->weight == FILE_KIND_INDEX;
}
#endif
