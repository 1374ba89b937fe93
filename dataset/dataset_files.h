/* dataset/dataset_files.h - the shards of a data set and the files next to them. */
#ifndef IMREC_DATASET_DATASET_FILES_H
#define IMREC_DATASET_DATASET_FILES_H

#include "container/container.h"
#include "formats/set/set_names.h"

struct dataset_files {
    struct uri_list shards;
    uint64_t *begin; /* of each shard in their concatenation; begin[shards.count] is the sum */
};

/* To be closed after a failure, too. */
IMREC_NODISCARD enum imrec_status
dataset_files_of(const struct container *s, struct dataset_files *out, struct imrec_error *err);
void dataset_files_close(struct dataset_files *f); /* zeroed memory is fine */

IMREC_NODISCARD enum imrec_status
dataset_has(const char *shard, enum set_file what, bool *there, struct imrec_error *err);
/* Reads the file `what` next to a shard; *text is NULL where there is none. */
IMREC_NODISCARD enum imrec_status dataset_load(const char *shard, enum set_file what, char **path,
                                               uint8_t **text, size_t *n, struct imrec_error *err);
#endif
