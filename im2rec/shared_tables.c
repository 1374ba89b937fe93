/* im2rec/shared_tables.c - a sample of a job's images, packed for their symbols alone.
 *
 * The sample is chosen by places in the list, and sums of counts do not depend on their order: the
 * same tables for any number of threads. */
#include "im2rec/shared_tables.h"

#include "base/error.h"
#include "base/math.h"

#define ITEMS_BYTES ((uint64_t)64 << 20)

static enum imrec_status
sample_job(struct pack_run *sample, const struct pack_run *r, struct imrec_error *err)
{
    IMREC_TRY(pack_run(sample, err));
    job_rewind(r->job);
    return IMREC_OK;
}

/* A source has its items once: the first ones are kept until they are packed. */
static enum imrec_status
sample_items(struct pack_run *sample, const struct pack_run *r, struct imrec_error *err)
{
    struct items *all = r->items;
    const uint64_t bytes = min_u64(ITEMS_BYTES, (uint64_t)r->o->memory / 4);
    IMREC_TRY(first_items_keep(&all->first, &all->source, SHARED_TABLES_SAMPLE, bytes,
                               &r->watch->stop, err));
    if (all->first.count == 0) /* nothing, or an error: the run finds out */
        return IMREC_OK;
    struct items some = *all;
    some.source.user = &some.first;
    some.source.total = 0;
    sample->items = &some;
    first_items_rewind(&some.first, true);
    return pack_run(sample, err);
}

enum imrec_status
shared_tables_sample(const struct pack_run *r, struct jpeg_tables *out, struct imrec_error *err)
{
    struct jpeg_counts counts = {{0}};
    struct pack_run sample = {.o = r->o,
                              .job = r->job,
                              .root = r->root,
                              .watch = r->watch,
                              .sample = SHARED_TABLES_SAMPLE,
                              .counts = &counts,
                              .progress = r->progress};
    IMREC_TRY(r->items != NULL ? sample_items(&sample, r, err) : sample_job(&sample, r, err));
    jpeg_tables_make(out, &counts);
    return IMREC_OK;
}
