/* im2rec/command/planned.h - im2rec --plan, --work, --finish and --status. */
#ifndef IMREC_IM2REC_COMMAND_PLANNED_H
#define IMREC_IM2REC_COMMAND_PLANNED_H

#include "cli/program_flags.h"

/* Tasks of --work: first, first + step, ...; any: those that nobody works on. */
struct planned_share {
    uint64_t first, step; /* step 0: one task */
    bool any;
};

bool planned_is(const struct im2rec_flags *f); /* one of the four */
/* All but --plan: what is packed is in the plan. */
bool planned_takes_no_names(const struct im2rec_flags *f);
/* Reads the operand of --work, and refuses others. Returns an exit status. */
int planned_operand(const struct im2rec_flags *f, int argc, char **argv, struct planned_share *out);
int planned_run(struct im2rec_flags *f, struct imrec_pack_task *task,
                const struct planned_share *share);
#endif
