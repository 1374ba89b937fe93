/* im2rec/set/stale_parts.h - what an interrupted run of the same set has left. */
#ifndef IMREC_IM2REC_SET_STALE_PARTS_H
#define IMREC_IM2REC_SET_STALE_PARTS_H

#include "imrec/error.h"

/* Removes the unfinished shards of the set that `rec` names, whatever number of shards they were to
 * be: .rec, .idx and .crc with .part after them, or of CNTK's format .cbf and .cbf.idx. Finished
 * files stay, and so do parts of the other format: they are another run's. */
IMREC_NODISCARD enum imrec_status
stale_parts_remove(const char *rec, bool cbf, struct imrec_error *err);
/* Whether there are such parts. */
bool stale_parts_exist(const char *rec, bool cbf);
#endif
