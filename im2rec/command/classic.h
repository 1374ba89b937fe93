/* im2rec/classic.h - key=value operands in the original packer's spelling. */
#ifndef IMREC_IM2REC_COMMAND_CLASSIC_H
#define IMREC_IM2REC_COMMAND_CLASSIC_H

#include "imrec/packer.h"

struct classic {
    int64_t nsplit, part; /* -1: not given */
    bool inter_method;    /* was given: it changes nothing here */
};
#define CLASSIC_INIT ((struct classic){.nsplit = -1, .part = -1})

/* Takes one operand: the original's keys (color, resize, label_width, pack_label, nsplit, part,
 * center_crop, quality, encoding=.jpg, inter_method, unchanged) or any key of our own table. */
IMREC_NODISCARD enum imrec_status classic_set(struct classic *c, struct imrec_pack_options *o,
                                              const char *pair, struct imrec_error *err);

/* After the last one: turns nsplit and part into o->part. *suffix is what the original appends to
 * the output's name: ".part003" or "". */
IMREC_NODISCARD enum imrec_status classic_end(struct classic *c, struct imrec_pack_options *o,
                                              char suffix[32], struct imrec_error *err);
#endif
