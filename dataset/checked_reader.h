/* dataset/checked_reader.h - imrec_checked_*(), and what copying needs of it beyond that. */
#ifndef IMREC_DATASET_CHECKED_READER_H
#define IMREC_DATASET_CHECKED_READER_H

#include "container/shards/shard_sums.h"
#include "dataset/dataset_index.h"
#include "dataset/dataset_walk.h"
#include "imrec/dataset.h"
#include "imrec/records.h"

struct imrec_checked {
    struct dataset_walk walk;
    uint32_t shard; /* whose checksums are loaded; shards.count: all are done */
    bool begun;     /* some are loaded at all */
    struct shard_sums sums;
    uint64_t next; /* checksum that no record or damage was met for */
    bool known;    /* the shard's records were compared with something */
    uint64_t unchecked;
    bool warned;              /* that a shard cannot be checked */
    struct shard_index index; /* of the shard, loaded for the first finding in it */
    bool index_asked;
    /* The last record read, while the losses before it are reported. */
    bool held;
    enum imrec_status status;
    struct imrec_record record;
    /* The current finding. */
    struct imrec_finding found;
    struct imrec_error why; /* its reason */
    uint64_t lost;          /* records that the finding stands for */
    struct checksum sum;    /* of the record given last, where summed */
    bool summed;
};

/* imrec_checked_open() of what `o` says, which may be looked at in another way. */
IMREC_NODISCARD enum imrec_status
checked_open_as(const struct container_options *o, imrec_progress_fn *progress, void *user,
                struct imrec_checked **out, struct imrec_error *err);
/* The last record returned, as stored in its shard, and its checksum there; false: it has no
 * checksum. */
bool checked_framed(const struct imrec_checked *c, struct bytes *framed, uint32_t *crc);
#endif
