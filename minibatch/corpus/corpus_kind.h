/* minibatch/corpus/corpus_kind.h - files that are given for CNTK's, and are of another kind. */
#ifndef IMREC_MINIBATCH_CORPUS_CORPUS_KIND_H
#define IMREC_MINIBATCH_CORPUS_CORPUS_KIND_H

#include "storage/source.h"

/* A file that must be CNTK text, or `binary`, and by its first bytes is surely something else:
 * IMREC_ERR_ARGUMENT with a sentence that says what it is. Damaged and unknown bytes pass. */
IMREC_NODISCARD enum imrec_status
corpus_kind_check(struct source *in, const char *name, bool binary, struct imrec_error *err);
#endif
