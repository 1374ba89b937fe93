/* augment/draw/user_augmenter.h - augmenters that the library does not know: registered, or in
 * shared libraries. */
#ifndef IMREC_AUGMENT_DRAW_USER_AUGMENTER_H
#define IMREC_AUGMENT_DRAW_USER_AUGMENTER_H

#include "base/plugin.h"
#include "imrec/augmenter.h"

struct user_augmenter {
    imrec_augment_fn *augment;
    struct plugin plugin; /* the recipe's options are not looked at again */
};

/* A registered name, or one that only a library or parameters can be meant by. */
bool user_augmenter_is_known(const char *item, size_t n);

/* `item` is n bytes of aug_seq: NAME, NAME(params), PATH:NAME or PATH:NAME(params). */
IMREC_NODISCARD enum imrec_status user_augmenter_find(const char *item, size_t n,
                                                      struct user_augmenter *out,
                                                      struct imrec_error *err);

/* *call without params and user, which are *a's. */
IMREC_NODISCARD enum imrec_status user_augmenter_run(const struct user_augmenter *a,
                                                     const struct imrec_augmenter_call *call,
                                                     struct imrec_error *err);
#endif
