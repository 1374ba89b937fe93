/* im2rec/parcel.h - one picture on its way: from its line of the list to a framed record. */
#ifndef IMREC_IM2REC_PARCEL_H
#define IMREC_IM2REC_PARCEL_H

#include "base/buf.h"
#include "im2rec/budget.h"
#include "im2rec/tally.h"

#define PICTURE_PATH_MAX 4096u

/* A place of the window. The list fills the first part, a worker the second. */
struct parcel {
    uint64_t line, id; /* line of the list file, from 1; 0: a folder was scanned */
    uint64_t copy;     /* of a picture that several records are made of, from 0 */
    struct buf text;   /* what the list says of the file: */
    struct bytes path; /* below the root; a view of text */
    struct buf labels; /* floats */
    uint32_t label_count;

    struct outcome outcome;
    char why[512];     /* the sentence behind outcome.reason, or what was mended */
    uint32_t crc;      /* crc32c of: */
    struct buf record; /* framed */
    struct budget_share share;
    enum imrec_status failed; /* not the picture's fault: the run ends here */
    bool done;
};

void parcel_free(struct parcel *p); /* zeroed memory is fine */

__attribute__((format(printf, 3, 4))) void
parcel_skip(struct parcel *p, enum reason reason, const char *fmt, ...);

/* What a worker keeps between pictures. */
struct packer;
IMREC_NODISCARD enum imrec_status packer_new(const struct imrec_pack_options *o, const char *root,
                                             struct budget *budget, struct packer **out,
                                             struct imrec_error *err);
void packer_free(struct packer *p); /* NULL is allowed */

/* Reads, decodes, turns upright, crops, resamples, encodes and frames. What is wrong with the
 * picture ends in its outcome, what is wrong with us in p->failed and p->why. */
void packer_run(struct packer *k, struct parcel *p);
#endif
