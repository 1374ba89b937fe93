/* augment/draw/augment_options.h - the parameters that say what becomes of a sample: those rows of
 * the iterator's table whose scope is one of these. */
#ifndef IMREC_AUGMENT_DRAW_AUGMENT_OPTIONS_H
#define IMREC_AUGMENT_DRAW_AUGMENT_OPTIONS_H

#include "base/param.h"
#include "imrec/iter_params.h"

/* clang-format off */
#define AUGMENT_SCOPE_DATA(...)
#define AUGMENT_SCOPE_RUN(...)
#define AUGMENT_SCOPE_ORDER(...)
#define AUGMENT_SCOPE_BATCH(...)
#define AUGMENT_SCOPE_SAMPLE(...)  __VA_ARGS__
#define AUGMENT_SCOPE_IMAGE(...)   __VA_ARGS__
#define AUGMENT_SCOPE_SIZE(...)    __VA_ARGS__
#define AUGMENT_SCOPE_PIXELS(...)  __VA_ARGS__
#define AUGMENT_SCOPE_CROP(...)    __VA_ARGS__
#define AUGMENT_SCOPE_TONES(...)   __VA_ARGS__
#define AUGMENT_SCOPE_TARGETS(...) __VA_ARGS__
#define AUGMENT_SCOPE_VALUES(...)  __VA_ARGS__
#define AUGMENT_SCOPE_SOUND(...)   __VA_ARGS__

#define AUGMENT_FIELD(ctype, name, preset, lo, hi, unit, group, help, scope) AUGMENT_##scope(ctype name;)
#define AUGMENT_ROW(ctype, name, preset, lo, hi, unit, group, help, scope) \
    AUGMENT_##scope(PARAM_ROW(ctype, name, preset, lo, hi, unit, group, help, scope))
/* clang-format on */

struct augment_options {
    IMREC_ITER_PARAMS(AUGMENT_FIELD)
};
extern const struct param augment_params[]; /* recipe.c */
#endif
