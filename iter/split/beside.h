/* iter/split/beside.h - what the packer left beside a shard: names of its files, its entry in the
 * manifest of its set. */
#ifndef IMREC_ITER_SPLIT_BESIDE_H
#define IMREC_ITER_SPLIT_BESIDE_H

#include "formats/manifest.h"
#include "formats/set_names.h"
#include "iter/split/dataset.h"

struct beside {        /* zeroed memory is one; for one shard after the other */
    char *name, *last; /* of a file beside a shard; of the manifest that was read last */
    size_t room;
    size_t next; /* entry of the manifest that likely comes */
    struct manifest manifest;
};

/* *name: of the file of the shard's set, until the next call. */
IMREC_NODISCARD enum imrec_status beside_name(struct beside *b, const char *shard,
                                              enum set_file what, const char **name,
                                              struct imrec_error *err);
/* *entry: of the shard in b->manifest; NULL: no manifest vouches for a shard of its name and size.
 * One that is missing or broken is none; it is read once for all shards of a set. */
IMREC_NODISCARD enum imrec_status beside_manifest(struct beside *b, const struct shard *h,
                                                  const struct manifest_shard **entry,
                                                  struct imrec_error *err);
void beside_free(struct beside *b);
#endif
