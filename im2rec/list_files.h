/* im2rec/list_files.h - --list: the lists of a folder, cut as MXNet's im2rec.py cuts them. */
#ifndef IMREC_IM2REC_LIST_FILES_H
#define IMREC_IM2REC_LIST_FILES_H

#include "im2rec/list/job.h"

/* PREFIX.lst, or PREFIX_0.lst ... with chunks, or PREFIX_train.lst, _test.lst and _val.lst of each
 * with ratios; and PREFIX.classes.txt. PREFIX is task->out without .lst or .rec. */
IMREC_NODISCARD enum imrec_status
lists_write(const struct job *j, const struct imrec_pack_task *task,
            const struct imrec_pack_options *o, struct imrec_pack_result *out,
            struct imrec_error *err);
#endif
