/* iter/load/record_stream.h - the records of a partition in the planned order, one after another:
 * plan and loader put together. Serial: the feed's. */
#ifndef IMREC_ITER_LOAD_RECORD_STREAM_H
#define IMREC_ITER_LOAD_RECORD_STREAM_H

#include "iter/load/loader.h"
#include "iter/order/global_order.h"
#include "iter/order/shard_order.h"
#include "iter/order/windows.h"

#include <stdatomic.h>

struct record_stream_options {
    bool shuffle, indexed;
    uint64_t seed, shuffle_window;
    uint64_t chunk_bytes; /* of a global order: cells of this size; 0: none */
};

/* How a sweep is cut; pure numbers, shared with the loader's threads. */
struct record_stream_plan {
    bool shuffle_units, shuffle_records, by_record; /* by_record: a unit is a record */
    struct global_order *global; /* the order is that of a job; NULL: of the partition */
    struct shard_order *shards;  /* the order of shuffled units, which are walked; NULL: any */
    uint64_t seed, cell_bytes;
    struct windows windows;
    uint64_t arena_bytes, table_bytes; /* of a window; tables: of listed records, else 0 */
    uint32_t arenas, threads;
    uint64_t far_bytes; /* that reading from other machines takes, besides the arenas */
};

struct record_stream {
    struct record_stream_plan plan;
    struct container *container;
    struct loader *loader;
    struct window *window;            /* held; NULL: none yet */
    uint64_t i;                       /* next record of it */
    uint64_t sweep;                   /* that it is in */
    uint64_t next_sweep, next_window; /* what loader_take() gives next */
    uint64_t skip;                    /* records of the next window to skip */
    uint64_t shift, own; /* of a global order: its shift, own samples of the sweep before */
    bool entered;        /* the window has been announced */
    atomic_uint_least64_t io_wait_ns;
    /* Called for each window before its first record is given, in every lap. */
    void *context;
    void (*on_window)(void *context, const struct window *w);
};

/* The cell grid that fits these options, bytes. */
uint64_t record_stream_cell_bytes(const struct record_stream_options *o, uint64_t shuffle_chunk);
struct record_stream_plan record_stream_plan(const struct record_stream_options *o,
                                             const struct container *container,
                                             uint64_t shuffle_chunk);

/* Sets the order of a plan whose units are cells that are walked, if it is shuffled. */
IMREC_NODISCARD enum imrec_status
record_stream_walk(struct record_stream *s, const struct container *container,
                   struct shard_order *o, struct imrec_error *err);

/* Sets the plan of a global order, whose share and sampling are in *g. */
IMREC_NODISCARD enum imrec_status
record_stream_share(struct record_stream *s, const struct record_stream_options *o,
                    const struct container *container, struct global_order *g,
                    struct imrec_error *err);

IMREC_NODISCARD enum imrec_status
record_stream_start(struct record_stream *s, struct container *container, struct imrec_error *err);
/* *more: whether there is another record in the sweep. Waits. */
IMREC_NODISCARD enum imrec_status
record_stream_more(struct record_stream *s, bool *more, struct imrec_error *err);
/* The record that record_stream_more() saw; the window is s->window. */
const struct record_ref *record_stream_take(struct record_stream *s);
void record_stream_go(struct record_stream *s, uint64_t sweep); /* to its start */
/* To record `skip` of a window. */
void record_stream_seek(struct record_stream *s, uint64_t sweep, uint64_t window, uint64_t skip);
/* To an own sample of a global order, which is in that slot of the job's batch; where it comes
 * anyhow, nothing happens. record_stream_more() and record_stream_take() give it. */
void record_stream_stand(struct record_stream *s, uint64_t sweep, uint64_t sample, uint64_t slot);
struct record_stream_spot {
    bool found;
    uint64_t window, before; /* found: the record's window, and records of the sweep before that */
    uint64_t records;        /* else: all of the sweep */
};
/* Where record n of a sweep is, from 1. Of cells this reads the windows up to that record, as they
 * are read for delivery (so what is damaged counts alike); nothing is decoded. The stream is
 * at any place afterwards: record_stream_seek() comes next. */
IMREC_NODISCARD enum imrec_status record_stream_find(struct record_stream *s, uint64_t sweep,
                                                     uint64_t n, struct record_stream_spot *out,
                                                     struct imrec_error *err);
/* For good: what is under way ends, the container's sources are of no more use. */
void record_stream_cancel(struct record_stream *s);
void record_stream_stop(struct record_stream *s); /* zeroed memory is fine */
#endif
