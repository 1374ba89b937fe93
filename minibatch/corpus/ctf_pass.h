/* minibatch/corpus/ctf_pass.h - one pass over a text, which finds its sequences. */
#ifndef IMREC_MINIBATCH_CORPUS_CTF_PASS_H
#define IMREC_MINIBATCH_CORPUS_CTF_PASS_H

#include "formats/ctf/ctf_index.h"
#include "storage/source.h"

/* o->size must be that of the text; *out is the caller's (ctf_index_free()). */
IMREC_NODISCARD enum imrec_status ctf_pass(struct source *text, const struct ctf_index_options *o,
                                           struct ctf_index *out, struct imrec_error *err);
#endif
