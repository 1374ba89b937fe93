/* dataset/dataset_set.h - do the files of packed sets belong together, as their manifests say? */
#ifndef IMREC_DATASET_DATASET_SET_H
#define IMREC_DATASET_DATASET_SET_H

#include "container/container.h"
#include "dataset/dataset_files.h"
#include "imrec/dataset.h"

/* `set`: which files it is, as it was opened. Compares sizes and the checksums of the small files
 * with manifests, and names with the numbers that they end in, where there is none.
 * `allow_missing`: shards that are not there are a warning.
 */
IMREC_NODISCARD enum imrec_status dataset_check_set(const struct container_options *set,
                                                    const struct dataset_files *f,
                                                    bool allow_missing, imrec_finding_fn *finding,
                                                    void *user, struct imrec_error *err);
/* Compares all bytes of one file of a set, SET_REC (the shard itself), SET_LIST or SET_CLASSES,
 * with the manifest of `shard`. *known: the manifest lists it. A difference, or a manifest
 * that cannot be read, is IMREC_ERR_CORRUPT. */
IMREC_NODISCARD enum imrec_status
dataset_check_file(const char *shard, enum set_file what, bool *known, struct imrec_error *err);
#endif
