/* im2rec/set/finished.h - resume of a set that is complete. */
#ifndef IMREC_IM2REC_SET_FINISHED_H
#define IMREC_IM2REC_SET_FINISHED_H

#include "im2rec/set/set_files.h"

/* Whether the set that the task names is finished, as far as its manifest, its list and the sizes
 * of its files can tell: then *out says what it holds. IMREC_END: there is no finished one.
 * IMREC_ERR_ARGUMENT: it is of other options, of another list or folder, or not whole any more. The
 * job is used up. */
IMREC_NODISCARD enum imrec_status
finished_find(const struct imrec_pack_task *task, const struct imrec_pack_options *o, struct job *j,
              const struct stop *stop, struct imrec_pack_result *out, struct imrec_error *err);
#endif
