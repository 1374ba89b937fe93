/* iter/load/arena.h - one window being read: its memory, its runs, its records. Private to the
 * loader. */
#ifndef IMREC_ITER_LOAD_ARENA_H
#define IMREC_ITER_LOAD_ARENA_H

#include "container/walk/recordio_walk.h"
#include "iter/load/loader.h"

#define PIECE_BYTES ((uint64_t)16 << 20) /* read at once; a cell for hard disks is one piece */

struct damage_note { /* a damaged range or a lost record */
    struct damage_note *next;
    struct damage damage;
};

struct run { /* adjacent units: read into adjacent memory, and looked at by one thread */
    uint32_t shard;
    uint64_t begin, end; /* bytes of the shard */
    uint64_t room;       /* bytes after the end that are read with it: the last record's rest */
    size_t place;        /* in the arena's memory */
    uint64_t rest_begin, rest_end; /* bytes that are of its records, too; both 0: there are none */
    size_t rest_place;
    uint64_t first, count; /* in `order` */
    uint32_t pieces_left;
    bool walked; /* of a kind that walks: its records are found; under the loader's lock */
    struct hole *holes;
    struct damage_note *notes, **notes_end;
    const struct container *holder; /* of fetched records: who has what they point at, as `hold` */
    void *hold;
    uint64_t held_bytes; /* of their images and masks */
};

struct ordered {
    uint64_t unit, place; /* place: in the window */
};

struct unit_records { /* the records of the unit at a place */
    uint64_t first, count;
};

struct block { /* memory for records that do not fit after their run */
    uint8_t *p;
    size_t bytes, used;
};

enum arena_state {
    ARENA_FREE,
    ARENA_OPENING,
    ARENA_FILLING,
    ARENA_READY,
    ARENA_FAILED,
    ARENA_HELD
};

struct arena {
    struct window window; /* first: a struct window * is this */
    /* Under the loader's lock. */
    enum arena_state state;
    bool stale, failed; /* nothing more is begun in it */
    uint32_t busy;      /* threads at work in it */
    uint32_t holds;
    uint64_t sequence;            /* place among the windows that are taken */
    uint64_t next_run, next_byte; /* the piece that is read next; next_byte: of the run, or, */
    bool next_rest;               /* with this, of the rest of its records */
    uint64_t advised,
        ahead_bytes; /* runs announced to the source; bytes of them still to be read */
    uint64_t runs_left;
    struct imrec_error error;
    /* Written by the threads that open and finish it, read-only in between. */
    uint8_t *memory;
    size_t bytes;
    struct ordered *order;
    uint64_t
        *ends; /* of records that are listed, in this order; where they begin the window says */
    struct run *runs;
    uint64_t units, run_count;
    uint64_t order_capacity, end_capacity, run_capacity, slot_capacity, record_capacity;
    uint64_t damage_capacity;
    struct damage *damages; /* of lost records, and then the window's */
    uint64_t lost_count;
    /* Under the loader's lock while it is filled. */
    struct unit_records *slots;
    struct record_ref *pool; /* in the order in which runs were done */
    uint64_t pool_count, pool_capacity;
    struct block *blocks;
    uint64_t block_count, block_capacity;
};

/* Things of `size` bytes where *at, a pointer, points to become `need` at least; false: no memory,
 * nothing changed. *memory counts bytes. */
bool arena_grow(void *at, uint64_t *capacity, uint64_t need, size_t size, _Atomic uint64_t *memory);
#define ARENA_GROW(array, capacity, need, memory)                                                  \
    arena_grow(&(array), &(capacity), (need), sizeof(*(array)), (memory))

/* Lays out window (sweep, number): units, runs, places. `room` is read after large runs. */
IMREC_NODISCARD enum imrec_status arena_open(struct arena *a, const struct loader_options *o,
                                             uint64_t sweep, uint64_t number, uint64_t room,
                                             _Atomic uint64_t *memory, struct imrec_error *err);
/* The place of record i, by `order`, which is listed. */
static inline struct record_place arena_place(const struct arena *a, uint64_t i)
{
    const struct record_ref *r = &a->window.records[a->order[i].place];
    return (struct record_place){r->unit, r->offset, a->ends[i], r->key, r->shard};
}
/* Memory that lives as long as the window; the loader's lock is held. NULL: none. */
uint8_t *arena_extra(struct arena *a, size_t bytes, _Atomic uint64_t *memory);
/* Puts records and damage in order, once all runs are done. */
IMREC_NODISCARD enum imrec_status arena_finish(struct arena *a, const struct loader_options *o,
                                               _Atomic uint64_t *memory, struct imrec_error *err);
void arena_free(struct arena *a);

/* Notes what is wrong with [begin, end) of the run's shard; `why` may be NULL. */
IMREC_NODISCARD enum imrec_status run_note(struct run *r, enum damage_kind kind, uint64_t begin,
                                           uint64_t end, const struct imrec_error *why,
                                           struct imrec_error *err);
#endif
