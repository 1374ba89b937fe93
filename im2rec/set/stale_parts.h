/* im2rec/set/stale_parts.h - what an interrupted run of the same set has left. */
#ifndef IMREC_IM2REC_SET_STALE_PARTS_H
#define IMREC_IM2REC_SET_STALE_PARTS_H

#include "imrec/error.h"

struct shard_kind;

/* Removes the unfinished shards of the set that `rec` names, whatever number of shards they were to
 * be: the kind's files with .part after them, and its scratch files. Finished files stay, and
 * so do parts of other kinds: they are another run's. */
IMREC_NODISCARD enum imrec_status
stale_parts_remove(const char *rec, const struct shard_kind *kind, struct imrec_error *err);
/* Whether there are such parts. */
IMREC_NODISCARD enum imrec_status stale_parts_exist(const char *rec, const struct shard_kind *kind,
                                                    bool *out, struct imrec_error *err);
#endif
