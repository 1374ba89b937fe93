/* iter/minibatch/config.h - the options of a minibatch source, out of text. */
#ifndef IMREC_ITER_MINIBATCH_CONFIG_H
#define IMREC_ITER_MINIBATCH_CONFIG_H

#include "base/param.h"
#include "imrec/minibatch.h"

extern const struct param minibatch_params[], deserializer_params[];
#endif
