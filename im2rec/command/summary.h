/* im2rec/command/summary.h - what im2rec says at its end: a card for people, or one JSON object. */
#ifndef IMREC_IM2REC_COMMAND_SUMMARY_H
#define IMREC_IM2REC_COMMAND_SUMMARY_H

#include "imrec/packer.h"

#include <stdio.h>

void summary_card(FILE *out, const char *name, const struct imrec_pack_result *r, double seconds);
void summary_json(FILE *out, const struct imrec_pack_result *r, double seconds);
#endif
