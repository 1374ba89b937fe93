/* im2rec/ahead.c - the next images of a job; those in stores are begun to be read well before.
 *
 * What is on the machine's disks is not: the list is then read line by line, as workers ask. */
#include "im2rec/ahead.h"

#include "base/error.h"
#include "base/math.h"

/* The next image of the job, or of its sample. */
static enum imrec_status next(struct ahead *a, struct pack_item *p, struct imrec_error *err)
{
    if (a->sample == 0 || a->sample >= a->job->total)
        return job_next(a->job, p, err);
    if (a->taken == a->sample)
        return IMREC_END;
    const uint64_t wanted = share_begin(a->job->total, a->taken++, a->sample);
    do {
        IMREC_TRY(stop_check(a->root->stop, err));
        IMREC_TRY(job_next(a->job, p, err));
    } while (a->at++ < wanted);
    return IMREC_OK;
}

static enum imrec_status begin(struct ahead *a, struct pack_item *p, struct imrec_error *err)
{
    char uri[2 * IMAGE_PATH_MAX];
    IMREC_TRY(next(a, p, err));
    if (p->outcome.reason != REASON_NONE || p->failed != IMREC_OK ||
        !file_is_in_store(p, a->root, uri))
        return IMREC_OK;
    if (a->fetcher == NULL)
        IMREC_TRY(fetcher_new(a->limit, &a->fetcher, err));
    const bool in_archive = p->place.archive != 0;
    p->fetch =
        fetch_begin(a->fetcher, uri, p->place.begin, in_archive ? p->place.bytes : FETCH_ALL);
    return IMREC_OK;
}

static void fill(struct ahead *a)
{
    while (a->count < FETCHES_MOST && a->ended == IMREC_OK) {
        struct pack_item *p = &a->items[(a->first + a->count) % FETCHES_MOST];
        a->ended = begin(a, p, &a->error);
        a->count += a->ended == IMREC_OK;
    }
}

enum imrec_status ahead_next(struct ahead *a, struct pack_item *p, struct imrec_error *err)
{
    if (a->fetcher == NULL && a->ended == IMREC_OK) {
        const enum imrec_status st = begin(a, p, err);
        if (a->fetcher != NULL && st == IMREC_OK)
            fill(a);
        return st;
    }
    if (a->count == 0) {
        if (a->ended != IMREC_END && err != NULL)
            *err = a->error;
        return a->ended;
    }
    struct pack_item *next = &a->items[a->first];
    const struct pack_item given = *p; /* its buffers are for a later one */
    *p = *next;
    *next = given;
    a->first = (a->first + 1) % FETCHES_MOST;
    a->count--;
    fill(a);
    return IMREC_OK;
}

void ahead_end(struct ahead *a)
{
    for (uint32_t i = 0; i < FETCHES_MOST; i++)
        pack_item_free(&a->items[i]);
    fetcher_free(a->fetcher);
    a->fetcher = NULL;
}
