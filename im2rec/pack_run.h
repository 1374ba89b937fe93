/* im2rec/pack_run.h - the images of a job, packed by all workers and handed on in order. */
#ifndef IMREC_IM2REC_PACK_RUN_H
#define IMREC_IM2REC_PACK_RUN_H

#include "im2rec/ahead.h"
#include "im2rec/item/budget.h"
#include "im2rec/items.h"
#include "im2rec/watch.h"

#include <stdatomic.h>

struct packer;
struct jpeg_counts;
struct jpeg_tables;
struct pack_run {
    /* The caller's: */
    const struct imrec_pack_options *o;
    struct job *job;
    struct items *items; /* instead of the job's list; or NULL */
    const struct file_root *root;
    struct watch *watch;
    bool to_store;  /* what put() writes goes over a wire */
    uint64_t first; /* index, in the list, of the job's first image */
    uint64_t done;  /* images of the job that are passed over: earlier runs have packed them */
    /* An image, packed or skipped; one at a time, in the order of the list. */
    enum imrec_status (*put)(void *user, const struct pack_item *p, struct imrec_error *err);
    void *user;
    struct imrec_progress progress;   /* total and skipped at first; for the watch */
    const struct jpeg_tables *tables; /* that the set's JPEGs share; NULL: each has its own */
    /* Of shared_tables.c: of a sample of this many images the symbols are added here, and nothing
     * is put. 0: all images are packed. */
    uint64_t sample;
    struct jpeg_counts *counts;

    /* Its own; zeroed at first: */
    struct ahead ahead;
    struct budget budget;
    struct packer **packers;
    struct jpeg_counts *counted; /* by each worker */
    uint32_t workers, window;
    struct pack_item *places; /* of the window */
    atomic_uint_least64_t
        next;                 /* image to be given out; written by feed alone, as the next three */
    bool exhausted;           /* the list is, or the source */
    bool cancelled;           /* the run was cancelled before that */
    enum imrec_status status; /* the list failed */
    struct imrec_error error;
    uint64_t written; /* images; by drain alone */
};

/* IMREC_ERR_CANCELLED: the watch was asked to end; what was in work is put. */
IMREC_NODISCARD enum imrec_status pack_run(struct pack_run *r, struct imrec_error *err);
/* That were taken from the list or the source, those passed over included. */
uint64_t pack_run_images(const struct pack_run *r);
#endif
