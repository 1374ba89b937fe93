/* dataset/transfer/transfer_set.h - the files that records are written into: one, or shards that
 * are cut and called as im2rec's, or after a range of names.
 *
 * All are written under temporary names. When the last one is complete all get their names, one
 * after the other; the shards that they replace are removed before. A run that is killed then
 * leaves OUT.unfinished, by which the next one knows the shards that are of no whole set. */
#ifndef IMREC_DATASET_TRANSFER_TRANSFER_SET_H
#define IMREC_DATASET_TRANSFER_TRANSFER_SET_H

#include "dataset/transfer/transfer_out.h"

struct lock;

struct transfer_set {
    const struct transfer_kind *kind;
    void *out; /* the kind's */
    const char *output;
    size_t stem;  /* of output, without the suffix */
    char **names; /* of a range of names; NULL: there is none */
    uint64_t name_count;
    uint64_t count;           /* of shards; 0: known at the end */
    uint64_t size;            /* most bytes of a shard; 0: any number */
    bool numbered;            /* OUT-00000-of-00001.tar, also if there is one only */
    uint64_t total;           /* records that are cut into `count` runs */
    uint64_t number, records; /* the shard being written, and what it has */
    uint64_t bytes;           /* of those before it */
    uint64_t published;
    bool open, begun, committed;
    uint64_t named; /* shards that a killed run has left, all of them; 0: none, or `count` */
    bool marked;    /* OUT.unfinished is this run's */
    struct lock *lock;
};

/* How many shards the options ask for: 0 where their size says, 1 where nothing does. Refuses what
 * cannot be; makes no file. */
IMREC_NODISCARD enum imrec_status
transfer_set_init(struct transfer_set *s, const struct transfer_kind *kind,
                  const struct imrec_records_options *o, struct imrec_error *err);
/* Whether `total` must be known before the first record. */
bool transfer_set_needs_total(const struct transfer_set *s);
/* Removes what an interrupted run left, and refuses shards that would be taken for others. */
IMREC_NODISCARD enum imrec_status
transfer_set_begin(struct transfer_set *s, uint64_t total, struct imrec_error *err);
/* Writes the record that was made, which is number `index` of `total`. */
IMREC_NODISCARD enum imrec_status
transfer_set_write(struct transfer_set *s, uint64_t index, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
transfer_set_commit(struct transfer_set *s, struct imrec_error *err);
/* Removes what is not committed; zeroed memory is fine. */
void transfer_set_end(struct transfer_set *s);
#endif
