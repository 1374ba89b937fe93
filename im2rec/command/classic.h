/* im2rec/command/classic.h - flags and key=value operands in the spelling of MXNet's two packers:
 * im2rec.py has flags, im2rec.cc key=value. */
#ifndef IMREC_IM2REC_COMMAND_CLASSIC_H
#define IMREC_IM2REC_COMMAND_CLASSIC_H

#include "imrec/packer.h"

struct classic {
    int64_t nsplit, part; /* -1: not given */
    char exts[512];       /* of --exts, joined */
    char augment[4200];   /* of all --augment, joined */
};
#define CLASSIC_INIT ((struct classic){.nsplit = -1, .part = -1})

/* Flags of im2rec.py in our spelling, in place: --recursive, --no-recursive, --num-thread,
 * --exts .a .b (any number of them), --encoding .jpg; and our --augment k=v k=v. argv keeps its
 * operands and their order; *argc may shrink. What it cannot hold is IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
classic_flags(struct classic *c, int *argc, char **argv, struct imrec_error *err);

/* Takes one operand: MXNet's keys (color, resize, label_width, pack_label, nsplit, part,
 * center_crop, quality, encoding=.jpg, inter_method, unchanged) or any key of our own table. */
IMREC_NODISCARD enum imrec_status classic_set(struct classic *c, struct imrec_pack_options *o,
                                              const char *pair, struct imrec_error *err);

/* After the last one: turns nsplit and part into o->part. *suffix is what MXNet appends to
 * the output's name: ".part003" or "". */
IMREC_NODISCARD enum imrec_status classic_end(struct classic *c, struct imrec_pack_options *o,
                                              char suffix[32], struct imrec_error *err);
#endif
