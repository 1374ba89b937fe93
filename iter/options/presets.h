/* iter/options/presets.h - whole recipes by one word. */
#ifndef IMREC_ITER_OPTIONS_PRESETS_H
#define IMREC_ITER_OPTIONS_PRESETS_H

#include <stddef.h>

/* The options of a preset, "key=value key=value ..."; NULL: there is none of that name. */
const char *preset_words(const char *name);
/* The name of preset i; NULL after the last one. */
const char *preset_name(size_t i);
/* What a misspelt name was probably meant to be; NULL: nothing is near. */
const char *preset_nearest(const char *name);
#endif
