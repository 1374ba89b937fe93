/* iter/mean.h - the mean image: read where it is there, else computed and written. */
#ifndef IMREC_ITER_MEAN_H
#define IMREC_ITER_MEAN_H

#include "imrec/iterator.h"

/* Reads o->mean_img, a file of data_shape, into *out (C x H x W floats of pages_alloc(*bytes)).
 * Where it is missing it is made first, over the whole data set (not one partition), after
 * resize and centre crop, without mirror, and written atomically. */
IMREC_NODISCARD enum imrec_status iter_mean_image(const struct imrec_iter_options *o, float **out,
                                                  size_t *bytes, struct imrec_error *err);
#endif
