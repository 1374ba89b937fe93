/* dataset/dataset_walk.h - every record of a data set in file order, damage reported as findings.
 */
#ifndef IMREC_DATASET_DATASET_WALK_H
#define IMREC_DATASET_DATASET_WALK_H

#include "dataset/dataset_files.h"
#include "imrec/dataset.h"
#include "imrec/records.h"

struct dataset_walk {
    struct dataset_files files;
    struct imrec_reader *reader;
    const struct container_kind *kind;
    imrec_progress_fn *progress; /* may be NULL */
    void *user;
    struct imrec_progress at;
    uint64_t called_at;          /* records at the last call of `progress` */
    struct imrec_finding damage; /* after IMREC_ERR_DATA: of that call */
    struct imrec_error why;      /* its reason */
};

/* `o`: path_imgrec, and how to look at it. */
IMREC_NODISCARD enum imrec_status
dataset_walk_open(const struct container_options *o, imrec_progress_fn *progress, void *user,
                  struct dataset_walk *out, struct imrec_error *err);
/* Where in its shard the record given last ends, if it has one part. */
uint64_t dataset_record_end(const struct dataset_walk *w, const struct imrec_record *r);
/* As imrec_reader_next(), and records that a damaged length has swallowed are found; after
 * IMREC_ERR_DATA w->damage holds the range. */
IMREC_NODISCARD enum imrec_status
dataset_walk_next(struct dataset_walk *w, struct imrec_record *out, struct imrec_error *err);
void dataset_walk_close(struct dataset_walk *w); /* zeroed memory is fine */
#endif
