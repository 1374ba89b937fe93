/* im2rec/list/other_names.h - names of what archives have and nobody packs, each once, for a
 * message. */
#ifndef IMREC_IM2REC_LIST_OTHER_NAMES_H
#define IMREC_IM2REC_LIST_OTHER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define OTHER_NAMES_MOST 20u

struct other_names {
    char name[OTHER_NAMES_MOST][64]; /* longer ones are cut */
    uint32_t count;
    bool more; /* there were others */
};

/* prefix: "." of an extension. Cases of letters are one name. */
void other_names_add(struct other_names *o, const char *prefix, const char *name);
void other_names_join(struct other_names *o, const struct other_names *more);
/* Logs them, if there are any. */
void other_names_warn(const struct other_names *o);
#endif
