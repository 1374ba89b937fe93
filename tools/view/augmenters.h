/* tools/view/augmenters.h - every augmenter at its usual setting: what the benchmark measures one
 * by one, and what the page of draws shows. */
#ifndef IMREC_TOOLS_VIEW_AUGMENTERS_H
#define IMREC_TOOLS_VIEW_AUGMENTERS_H

#include "imrec/imrec.h"

enum augmenter_kind {
    AUGMENTER_MEASURED, /* changes pixels, and is measured alone */
    AUGMENTER_SHOWN,    /* another side of a measured one, or none of its own: only shown */
    AUGMENTER_BOXES,    /* of images with boxes: only shown */
};

struct augmenter {
    const char *name, *words; /* words: key=value with spaces between */
    enum augmenter_kind kind;
};
extern const struct augmenter augmenters[]; /* no name at the end */

/* Parameters that have no images of their own, and why. */
struct augmenter_hidden {
    const char *param, *why;
};
extern const struct augmenter_hidden augmenters_hidden[]; /* no param at the end */

enum { AUGMENTER_WORDS = 512 };
/* Sets the options that `a` says, above what *o holds; they borrow `text`. */
IMREC_NODISCARD enum imrec_status
augmenter_apply(const struct augmenter *a, struct imrec_iter_options *o, char text[AUGMENTER_WORDS],
                struct imrec_error *err);
#endif
