/* im2rec/stale_parts.h - what an interrupted run of the same set has left. */
#ifndef IMREC_IM2REC_STALE_PARTS_H
#define IMREC_IM2REC_STALE_PARTS_H

#include "imrec/error.h"

/* Removes the unfinished shards (.rec, .idx, .crc, .cbf with .part behind) of the set that `rec`
 * names, whatever number of shards they were to be. Finished files stay. */
IMREC_NODISCARD enum imrec_status stale_parts_remove(const char *rec, struct imrec_error *err);
#endif
