/* iter/minibatch/config.h - the options of a minibatch source, out of text. */
#ifndef IMREC_ITER_MINIBATCH_CONFIG_H
#define IMREC_ITER_MINIBATCH_CONFIG_H

#include "base/param.h"
#include "imrec/minibatch.h"

extern const struct param minibatch_params[], deserializer_params[];

/* What `table` has under a name as CNTK's pages or C spell it. False: nothing. */
IMREC_NODISCARD bool
config_param_find(const struct param *table, const char *name, size_t n, const struct param **out);
#endif
