/* im2rec/command/shown_run.h - what a run shows meanwhile, and what ends it early. */
#ifndef IMREC_IM2REC_COMMAND_SHOWN_RUN_H
#define IMREC_IM2REC_COMMAND_SHOWN_RUN_H

#include "cli/progress.h"
#include "imrec/packer.h"

#include <stdio.h>

struct shown_run {
    struct progress progress;
    bool begun, scanning;
    FILE *out; /* NULL: nothing is shown */
};

/* From here on SIGINT and SIGTERM end a run in an orderly way, a second one at once. */
void shown_run_listen(void);
bool shown_run_interrupted(void);
/* imrec_progress_fn of a struct shown_run. */
bool shown_run_progress(void *user, const struct imrec_progress *p);
void shown_run_end(struct shown_run *w, const struct imrec_pack_result *r);
#endif
