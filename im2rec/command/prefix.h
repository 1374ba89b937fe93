/* im2rec/command/prefix.h - the operands of MXNet's im2rec.py: PREFIX ROOT.
 *
 * The script packs every list of the folder whose name begins with PREFIX. Here they are those
 * that its --list can have written: PREFIX.lst, PREFIX_3.lst, PREFIX_train.lst, PREFIX_3_val.lst:
 * train does not take train2.lst. */
#ifndef IMREC_IM2REC_COMMAND_PREFIX_H
#define IMREC_IM2REC_COMMAND_PREFIX_H

#include "imrec/error.h"

/* a is no folder and b is one: PREFIX ROOT, not FOLDER OUT. */
bool prefix_comes_first(const char *a, const char *b);

struct prefix_lists {
    char **list; /* paths, sorted by bytes */
    char **out;  /* the same without ".lst" */
    size_t count;
    char *classes; /* PREFIX.classes.txt, which --list writes with them; NULL: missing */
};
/* IMREC_ERR_ARGUMENT where there is none. */
IMREC_NODISCARD enum imrec_status
prefix_find(const char *prefix, struct prefix_lists *out, struct imrec_error *err);
void prefix_free(struct prefix_lists *p); /* zeroed memory is fine */
#endif
