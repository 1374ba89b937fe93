/* iter/mean.h - the mean image: read where it is there, else computed and written. */
#ifndef IMREC_ITER_MEAN_H
#define IMREC_ITER_MEAN_H

#include "augment/draw/recipe.h"
#include "imrec/iterator.h"

/* The options of an iterator that delivers what is summed up: bytes of the whole data set (not one
 * partition), after resize and centre crop, without mirror. `r` is the recipe of *o; with boxes
 * `room` is the number of values of a label. */
void iter_mean_options(const struct imrec_iter_options *o, const struct recipe *r, uint32_t room,
                       struct imrec_iter_options *out);
/* Sums up such an iterator, and writes o->mean_img atomically. */
IMREC_NODISCARD enum imrec_status
iter_mean_make(const struct imrec_iter_options *o, struct imrec_iter *it, struct imrec_error *err);
/* Reads o->mean_img, a file of data_shape, into *out (C x H x W floats of pages_alloc(*bytes)). */
IMREC_NODISCARD enum imrec_status iter_mean_load(const struct imrec_iter_options *o, float **out,
                                                 size_t *bytes, struct imrec_error *err);
#endif
