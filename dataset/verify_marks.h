/* dataset/verify_marks.h - where index and checksums say that records begin, met in file order. */
#ifndef IMREC_DATASET_VERIFY_MARKS_H
#define IMREC_DATASET_VERIFY_MARKS_H

#include "dataset/dataset_index.h"
#include "imrec/dataset.h"

struct marks {                      /* of one shard and one side file */
    enum imrec_finding_kind kind;   /* IMREC_FOUND_INDEX or IMREC_FOUND_CHECKSUM */
    struct shard_index_entry *mark; /* ascending by offset; a checksum's key is bytes << 32 | crc */
    uint64_t count, next;           /* next: not met yet */
    bool found;                     /* the file is there and readable */
    struct imrec_error why;         /* it is there and not readable: found is false */
};

/* Reads the .idx or .crc next to `shard`. A broken one is not an error; m->why has the reason. */
IMREC_NODISCARD enum imrec_status marks_load(struct marks *m, enum imrec_finding_kind kind,
                                             const char *shard, struct imrec_error *err);
void marks_free(struct marks *m); /* zeroed memory is fine */

/* The next mark below `offset`, or NULL: a place where no record begins. */
const struct shard_index_entry *marks_stray(struct marks *m, uint64_t offset);
/* Passes the marks below `end`: they lie in a damaged range. */
void marks_skip(struct marks *m, uint64_t end);
/* The mark of the record at `offset`, or NULL; a second one for the same place is left stray. */
const struct shard_index_entry *marks_meet(struct marks *m, uint64_t offset);
#endif
