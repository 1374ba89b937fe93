/* iter/state.h - the iterator's own struct, shared by the files of this room. */
#ifndef IMREC_ITER_STATE_H
#define IMREC_ITER_STATE_H

#include "augment/normalize/normalize.h"
#include "container/container.h"
#include "container/fetched/fetched.h"
#include "iter/equal_count.h"
#include "iter/fields.h"
#include "iter/load/record_stream.h"
#include "iter/options/further_images.h"
#include "iter/options/mix_sets.h"
#include "iter/options/tile_kinds.h"
#include "iter/sample/further_sampler.h"
#include "iter/sample/label_table.h"
#include "iter/sample/mosaic_sampler.h"
#include "iter/sample/paste_sampler.h"
#include "iter/sample/sampler.h"
#include "iter/slots.h"
#include "parallel/ordered.h"
#include "storage/store/scope.h"

enum { DET_LABEL_HEAD = 4 }; /* channels, rows, columns, values: before a label with boxes */

/* What the feed gives a worker: the record of a sample, and where the sample goes. */
struct ticket {
    uint32_t cell, slot;     /* cell below depth, slot below the batch's samples */
    enum schedule_step kind; /* a slot's step */
    uint64_t sweep;
    uint64_t lap;          /* global_order_lap() */
    struct window *window; /* held for this ticket */
    const struct record_ref *record;
};

/* A ticket of a worker that has several. */
struct held_ticket {
    bool used;
    struct ticket ticket;
    struct ordered_task task;
};

struct worker {
    struct ticket ticket;     /* that the feed has given last */
    struct held_ticket *held; /* CODEC_TOGETHER_MOST; NULL: it has one at a time */
    uint32_t held_count;
    const struct window *window; /* that all of them are of */
    struct sampler sampler;      /* codec, scratch, prepared kernels */
    struct further_sampler further;
    struct mosaic_sampler mosaic;
    struct paste_sampler paste;
    struct sampler_view *views; /* of the sample in hand: slot after slot, tensor after tensor */
    struct object_room objects; /* of instance masks; nothing without */
    uint32_t *numbers;          /* of all views */
    struct parse_room room;     /* of a kind that needs one */
    atomic_uint_least64_t decode_ns, augment_ns, images, failed; /* no cache line is shared */
    atomic_uint_least64_t decodes, made, replaced, self_checked;
    uint8_t padding[64];
};

struct iter_metrics;
struct batch_lease; /* lives as long as the iterator and the last batch that is kept */

struct imrec_iter {
    struct imrec_iter_options options; /* its texts are empty after opening */
    struct augment_options augment;    /* of these options, likewise */
    struct recipe recipe;              /* of `augment` */
    struct view_kinds views;           /* what they make of a sample */
    struct further_images further;     /* likewise of its fields */
    struct view_kinds tiles;           /* of a mosaic's images; none: no mosaics */
    struct view_kinds moves;           /* of images with pasted objects; none: nothing is pasted */
    uint32_t label_width;              /* of a slot: with boxes their head and room */
    bool indexed;                      /* records are known singly: an index, or CBF files */
    struct planes planes;              /* of images that are decoded: their shape */
    struct mix_sets mix;               /* of mix; empty: not given */
    struct imrec_fetch fetch;          /* of records that are fetched; zeroed: of files */
    struct imrec_memory memory;        /* of batches, of the caller; zeroed: of the system */
    struct container container;
    struct cache *cache;      /* that it reads through; NULL: none */
    struct store_scope scope; /* of what it opens; counts */
    struct record_stream stream;
    struct global_order global;     /* with order=global: the stream's */
    struct shard_order shard_order; /* of shards that are walked: the stream's */
    struct equal_count equal;       /* the schedule's, with equal_batches */
    struct schedule schedule;
    struct slots slots;
    struct batch_fields fields;
    struct batch_lease *lease; /* of batches that the consumer keeps; NULL until the first */
    struct label_table labels; /* of path_imglist; empty: not given */
    float *mean_image;         /* NULL: mean_* count */
    size_t mean_image_bytes;
    struct headroom headroom;
    struct worker *workers;
    uint32_t worker_count;
    bool together; /* a worker's images are decoded side by side */
    struct ordered *ordered;
    struct iter_metrics *metrics; /* NULL: nobody wants them */
    uint64_t memory_planned;

    /* the feed's, under its lock */
    bool cell_open;
    bool closing;           /* what the schedule has closed still lacks slots of this rank */
    uint64_t own_lap;       /* of the job's sample whose turn it is */
    struct place place;     /* after the last sample of the main run */
    uint64_t window_before; /* of the window in use: samples of the sweep before it */
    uint64_t window_number;
    bool resumed_inside;      /* the first window after a seek: its damage is reported already */
    uint64_t pending_damages; /* met, not yet given to a batch */
    struct imrec_error pending_damage[LOG_LISTED]; /* the first ones */
    uint64_t pending_sweep;                        /* that they are of */
    bool unlisted_told;                            /* that the index of path_imgidx omits bytes */
    atomic_uint_least64_t damages, feed_ns;

    /* the consumer's */
    struct place at;    /* after the batch delivered last */
    struct place after; /* after the END that is due */
    bool holding, end_due;
    bool nothing_told; /* that a sweep has no batch */
    uint32_t held;     /* the cell of the batch delivered last, while holding */
    bool held_kept;
    bool samples_known;
    uint64_t samples; /* of a sweep, once they were counted */
    uint64_t batches, next_wait_ns;
    struct sweep_report report;
    char *position;           /* text of imrec_iter_position() */
    struct imrec_error fatal; /* status OK: none */
};

/* feed.c, work.c: the callbacks of `ordered`; context is the iterator. */
enum ordered_step iter_feed(void *context, const struct ordered_task *task, uint32_t worker);
void iter_work(void *context, const struct ordered_task *task, uint32_t worker);
/* work.c: the same of several samples, whose images are decoded side by side. */
void iter_work_together(void *context, const struct ordered_task *first, uint32_t worker,
                        struct ordered *ordered);
bool iter_is_fed(void *context, uint32_t worker);
/* work.c: whether that can be done, and is worth it. */
bool iter_suits_together(const struct imrec_iter *it);
void iter_mix(void *context, uint32_t cell); /* mixing.c */
void iter_on_window(void *context, const struct window *w);
/* Lets the stream begin at `place`: it must be paused, or not yet started. */
void iter_begin_at(struct imrec_iter *it, const struct place *place);

/* record_parse.c: the record, looked at; w->sampler has its mask. What *out points to is valid
 * until the worker looks at the next one. */
IMREC_NODISCARD enum imrec_status iter_parse(struct imrec_iter *it, const struct record_ref *ref,
                                             struct worker *w, struct record *out,
                                             struct imrec_error *err);
/* mosaics.c: another sample of the ticket's window, for the slot of its own. */
struct partner {
    enum imrec_status (*make)(struct imrec_iter *it, struct worker *w, const struct record_ref *ref,
                              void *context, struct imrec_error *err);
    void *context;
    const char *what; /* it is there for: "in its mosaic" */
};
/* The record that the bits choose, or, as it cannot be made, the next one of the window that can:
 * the same one whatever other threads have found out. It is reported where it is a sample of its
 * own. */
IMREC_NODISCARD enum imrec_status iter_make_partner(struct imrec_iter *it, const struct ticket *t,
                                                    struct worker *w, const struct partner *p,
                                                    uint64_t bits, struct imrec_error *err);
/* mosaics.c: the slot of *v, which is a mosaic; `s` makes it of the canvas. */
IMREC_NODISCARD enum imrec_status
iter_make_mosaic(struct imrec_iter *it, const struct ticket *t, struct worker *w, struct sampler *s,
                 struct sampler_view *v, const struct mosaic_draw *d, struct imrec_error *err);
/* scenes.c: the images of w->views[0..n), of which some are mosaics, or have objects pasted into
 * them. *r is the ticket's record; it is not valid afterwards. */
IMREC_NODISCARD enum imrec_status iter_make_scenes(struct imrec_iter *it, const struct ticket *t,
                                                   struct worker *w, const struct record *r,
                                                   uint32_t n, struct imrec_error *err);

/* sounds.c: the record's file into the slots of w->views[n]. */
IMREC_NODISCARD enum imrec_status iter_make_sound(struct imrec_iter *it, struct worker *w,
                                                  struct bytes file, uint32_t n,
                                                  struct imrec_error *err);

/* further.c: the images that images= names, out of the record's fields, once w->views are made. A
 * missing one, unless it is optional, and one that cannot be made fail the sample. */
IMREC_NODISCARD enum imrec_status iter_make_further(struct imrec_iter *it, const struct ticket *t,
                                                    struct worker *w, const struct record *r,
                                                    struct imrec_error *err);

/* sampling_open.c: what a sweep of a job has, unless it is every record once: then *out has no
 * samples. */
IMREC_NODISCARD enum imrec_status
iter_open_sampling(const struct imrec_iter *it, struct sampling *out, struct imrec_error *err);

/* boxes.c: how much room labels get: label_width. */
IMREC_NODISCARD enum imrec_status iter_fit_boxes(struct imrec_iter *it, struct imrec_error *err);

/* labels.c: n labels of a sample, out of the list or, `listed` being NULL, the record; `typed` are
 * those of the list where dtype_label is not float32. */
struct found_labels {
    const float *listed;
    const union list_label *typed;
    uint32_t n;
};
IMREC_NODISCARD enum imrec_status iter_find_labels(const struct imrec_iter *it,
                                                   const struct record *r, struct found_labels *out,
                                                   struct imrec_error *err);
/* labels.c: into that row of the slots. */
IMREC_NODISCARD enum imrec_status iter_take_labels(struct imrec_iter *it, const struct record *r,
                                                   uint32_t shard, size_t row,
                                                   struct imrec_error *err);
/* boxes.c: objects that a label may have and a worker has room for; 0: they have no numbers. */
uint32_t iter_object_room(const struct imrec_iter *it);
/* boxes.c: into the slot's row of labels, checked, with `numbers` for the objects, or NULL; and
 * what belongs around it when the image is made. */
IMREC_NODISCARD enum imrec_status
iter_take_boxes(const struct imrec_iter *it, const struct record *r, float *row, uint32_t *numbers,
                struct det_label *label, struct imrec_error *err);
void iter_finish_boxes(const struct imrec_iter *it, const struct imrec_draw *d,
                       const struct det_label *label, float *row);

/* image_record_iter.c: the failure that ends the stream; moves past the END that is due. */
enum imrec_status iter_sticky(const struct imrec_iter *it, struct imrec_error *err);
void iter_pass_end(struct imrec_iter *it);

/* batch_lease.c: memory of batches that the consumer keeps, and that comes back some time. */
void batch_lease_leave(struct batch_lease *k);      /* the iterator's goodbye; NULL is fine */
uint64_t batch_lease_memory(struct batch_lease *k); /* kept, or to be used again; NULL: 0 */
/* Of an iterator that will be closed: *out is the batch that is held and was not kept, or NULL. */
IMREC_NODISCARD enum imrec_status
batch_lease_last(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err);

/* stats.c: what any thread may count: workers, feed, loader. */
void iter_count_work(struct imrec_iter *it, struct imrec_iter_stats *out);

/* iter_metrics.c: metrics=. A port that is taken is an error at once; what is read is read from the
 * start on. The consumer shows how far it is. */
IMREC_NODISCARD enum imrec_status iter_metrics_open(struct imrec_iter *it, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
iter_metrics_start(struct imrec_iter *it, struct imrec_error *err);
void iter_metrics_show(struct imrec_iter *it);
void iter_metrics_stop(struct imrec_iter *it);

/* stats.c: the sum of docs/guide/iterator.md, compared with memory_limit. */
IMREC_NODISCARD enum imrec_status iter_plan_memory(struct imrec_iter *it, struct imrec_error *err);
#endif
