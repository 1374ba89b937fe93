/* im2rec/ahead.h - the next images of a job; those in stores are begun to be read well before. */
#ifndef IMREC_IM2REC_AHEAD_H
#define IMREC_IM2REC_AHEAD_H

#include "im2rec/item/fetch.h"
#include "im2rec/item/read_file.h"
#include "im2rec/list/job.h"

struct ahead { /* zeroed at first, but for: */
    struct job *job;
    const struct file_root *root;
    uint64_t limit;  /* bytes that are read ahead */
    uint64_t sample; /* this many images alone, spread evenly over the job; 0: all of it */

    struct fetcher *fetcher; /* since the first image that is in a store */
    uint64_t at, taken;      /* images of the job, and of the sample, so far */
    struct pack_item items[FETCHES_MOST];
    uint32_t first, count;
    enum imrec_status ended; /* of the job, after them */
    struct imrec_error error;
};

/* As job_next(), which nobody else calls meanwhile. */
IMREC_NODISCARD enum imrec_status
ahead_next(struct ahead *a, struct pack_item *p, struct imrec_error *err);
/* Items that were given out are freed before. */
void ahead_end(struct ahead *a);
#endif
