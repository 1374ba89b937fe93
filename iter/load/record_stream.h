/* iter/load/record_stream.h - the records of a partition in the planned order, one after another:
 * plan and loader put together. Serial: the feed's. */
#ifndef IMREC_ITER_LOAD_RECORD_STREAM_H
#define IMREC_ITER_LOAD_RECORD_STREAM_H

#include "iter/load/loader.h"
#include "iter/order/windows.h"

#include <stdatomic.h>

struct supply_options {
    bool shuffle, indexed;
    uint64_t seed, shuffle_window;
};

/* How a sweep is cut; pure numbers, shared with the loader's threads. */
struct supply_plan {
    bool shuffle_units, shuffle_records, by_record; /* by_record: a unit is a record */
    uint64_t seed, cell_bytes;
    struct windows windows;
    uint64_t arena_bytes;
    uint32_t arenas, threads;
};

struct supply {
    struct supply_plan plan;
    struct loader *loader;
    struct window *window;            /* held; NULL: none yet */
    uint64_t i;                       /* next record of it */
    uint64_t sweep;                   /* that it stands in */
    uint64_t next_sweep, next_window; /* what loader_take() gives next */
    uint64_t skip;                    /* records of the next window to pass over */
    bool entered;                     /* the window has been told of */
    atomic_uint_least64_t io_wait_ns;
    /* Told of each window before its first record is given, in every lap. */
    void *context;
    void (*on_window)(void *context, const struct window *w);
};

/* The cell grid that fits these options, bytes. */
uint64_t supply_cell_bytes(const struct supply_options *o, uint64_t shuffle_chunk);
struct supply_plan supply_plan(const struct supply_options *o, const struct container *container,
                               uint64_t shuffle_chunk);
/* Bytes of all arenas. */
uint64_t supply_memory(const struct supply_plan *p);

IMREC_NODISCARD enum imrec_status
supply_start(struct supply *s, struct container *container, struct imrec_error *err);
/* *more: whether there is another record in the sweep. Waits. */
IMREC_NODISCARD enum imrec_status
supply_more(struct supply *s, bool *more, struct imrec_error *err);
/* The record that supply_more() saw; the window is s->window. */
const struct record_ref *supply_take(struct supply *s);
void supply_go(struct supply *s, uint64_t sweep); /* to its start */
/* To record `skip` of a window. */
void supply_seek(struct supply *s, uint64_t sweep, uint64_t window, uint64_t skip);
struct supply_spot {
    bool found;
    uint64_t window, before; /* found: the record's window, and records of the sweep before that */
    uint64_t records;        /* else: all of the sweep */
};
/* Where record n of a sweep is, from 1. Of cells this reads the windows up to that record, as they
 * are read for delivery (so what is damaged counts alike); nothing is decoded. The supply stands
 * anywhere afterwards: supply_seek() comes next. */
IMREC_NODISCARD enum imrec_status supply_find(struct supply *s, uint64_t sweep, uint64_t n,
                                              struct supply_spot *out, struct imrec_error *err);
void supply_cancel(struct supply *s);
void supply_stop(struct supply *s); /* zeroed memory is fine */
#endif
