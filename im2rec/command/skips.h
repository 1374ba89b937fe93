/* im2rec/command/skips.h - what was not packed, for people: the first ones by name, then how many.
 */
#ifndef IMREC_IM2REC_COMMAND_SKIPS_H
#define IMREC_IM2REC_COMMAND_SKIPS_H

#include "imrec/packer.h"

#include <stdio.h>

/* Lines that begin with `name`; none where nothing was skipped. report: the file that has all, or
 * "". */
void skips_print(FILE *out, const char *name, const struct imrec_pack_result *r,
                 const char *report);
#endif
