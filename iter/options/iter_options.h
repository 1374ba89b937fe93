/* iter/options/iter_options.h - the iterator's parameter table at work. */
#ifndef IMREC_ITER_OPTIONS_ITER_OPTIONS_H
#define IMREC_ITER_OPTIONS_ITER_OPTIONS_H

#include "augment/draw/recipe.h"
#include "imrec/iterator.h"

extern const struct param iter_params[];

/* Takes what the caller's version of the struct knows, leaves defaults elsewhere, and checks
 * ranges and what contradicts. Afterwards round_batch has become last_batch, shuffle_chunk_size
 * shuffle_chunk; seed is that of the order, seed_aug that of the draws. */
IMREC_NODISCARD enum imrec_status iter_options_copy(struct imrec_iter_options *to,
                                                    const struct imrec_iter_options *from,
                                                    struct imrec_error *err);

/* images=none: labels and fields only. */
bool iter_options_no_images(const struct imrec_iter_options *o);

/* Whether a sweep may be something else than every record once. */
bool iter_options_choose(const struct imrec_iter_options *o);

/* What becomes of a sample. */
void iter_options_of_sample(const struct imrec_iter_options *o, struct augment_options *out);

/* Sets what one size of multi_crop may have for itself, from "key=value". */
IMREC_NODISCARD enum imrec_status
iter_options_augment(struct augment_options *o, const char *key_value, struct imrec_error *err);
#endif
