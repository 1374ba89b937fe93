/* augment/draw/own.h - augmenters that the library does not know: registered, or in shared
 * libraries. */
#ifndef IMREC_AUGMENT_DRAW_OWN_H
#define IMREC_AUGMENT_DRAW_OWN_H

#include "base/plugin.h"
#include "imrec/augmenter.h"

struct own {
    imrec_augment_fn *augment;
    struct plugin plugin; /* the recipe's options are not looked at again */
};

/* A registered name, or one that only a library or parameters can be meant by. */
bool own_is_known(const char *item, size_t n);

/* `item` is n bytes of aug_seq: NAME, NAME(params), PATH:NAME or PATH:NAME(params). */
IMREC_NODISCARD enum imrec_status
own_find(const char *item, size_t n, struct own *out, struct imrec_error *err);

/* *call without params and user, which are `own`'s. */
IMREC_NODISCARD enum imrec_status
own_run(const struct own *own, const struct imrec_augmenter_call *call, struct imrec_error *err);
#endif
