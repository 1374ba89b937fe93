/* tools/commands/batches_draw.h - what was drawn for a sample, as a line of JSON. */
#ifndef IMREC_TOOLS_COMMANDS_BATCHES_DRAW_H
#define IMREC_TOOLS_COMMANDS_BATCHES_DRAW_H

#include "imrec/imrec.h"

#include <stdio.h>

/* An object with the fields of struct imrec_draw by their names; NULL: null. */
void batches_draw(FILE *out, const struct imrec_draw *d);
#endif
