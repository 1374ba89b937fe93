/* minibatch/minibatch_options.h - a source's own copy of its options, checked. */
#ifndef IMREC_MINIBATCH_MINIBATCH_OPTIONS_H
#define IMREC_MINIBATCH_MINIBATCH_OPTIONS_H

#include "base/string_arena.h"
#include "imrec/minibatch.h"
#include "minibatch/plan/minibatch_sizes.h"

struct minibatch_options {
    struct imrec_minibatch_options o; /* all pointers lead into this struct's memory */
    struct minibatch_sizes sizes;
    uint64_t epoch_size; /* UINT64_MAX: one epoch for ever */
    bool full_sweep;     /* epoch_size=FULL_DATA_SWEEP */
    struct imrec_deserializer *deserializer;
    struct string_arena texts;
};

IMREC_NODISCARD enum imrec_status minibatch_options_copy(struct minibatch_options *to,
                                                         const struct imrec_minibatch_options *from,
                                                         struct imrec_error *err);
void minibatch_options_free(struct minibatch_options *o); /* zeroed memory is allowed */
#endif
