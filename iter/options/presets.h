/* iter/options/presets.h - whole recipes by one word. */
#ifndef IMREC_ITER_OPTIONS_PRESETS_H
#define IMREC_ITER_OPTIONS_PRESETS_H

#include "imrec/error.h"

/* The options of a preset, "key=value key=value ..."; NULL: there is none of that name. */
const char *preset_words(const char *name);
/* The names, with commas between. */
void preset_names(char *out, size_t n);
#endif
