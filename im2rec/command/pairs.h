/* im2rec/command/pairs.h - a folder of nothing but images/ and masks/: pairs, not two classes. */
#ifndef IMREC_IM2REC_COMMAND_PAIRS_H
#define IMREC_IM2REC_COMMAND_PAIRS_H

#include "imrec/error.h"

struct pairs {
    char *images, *masks; /* ROOT/images, ROOT/masks; NULL: the folder is none of pairs */
};
IMREC_NODISCARD enum imrec_status
pairs_find(const char *root, struct pairs *out, struct imrec_error *err);
void pairs_free(struct pairs *p); /* zeroed memory is fine */
#endif
