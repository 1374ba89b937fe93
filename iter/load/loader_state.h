/* iter/load/loader_state.h - what the reading threads share. Private to the loader. */
#ifndef IMREC_ITER_LOAD_LOADER_STATE_H
#define IMREC_ITER_LOAD_LOADER_STATE_H

#include "base/threads.h"
#include "iter/load/advice.h"

#include <stdatomic.h>

struct finding {   /* a record of the run that a thread is looking at */
    uint64_t unit; /* its number in the run */
    uint64_t offset;
    uint8_t *p;
    struct recordio_span span;
    struct bytes bytes; /* joined */
    uint64_t id;        /* of records that are walked; else 0 */
    bool lost;          /* likewise: the run has a note why */
};

/* Of a shard whose records are found one from the other: that the first one whose walk begins at
 * `boundary` or after it is at `head`, and how many are before that. All 0: the shard's begin. */
struct walked {
    uint64_t boundary, head, records;
};

struct reading { /* one thread */
    struct loader *loader;
    struct thread thread;
    struct finding *found;
    uint64_t found_count, found_capacity;
    uint8_t *scratch; /* for reads after a run; SCRATCH_BYTES, once needed */
};

#define SCRATCH_BYTES ((uint64_t)1 << 20)

struct loader {
    struct loader_options o;
    struct mutex lock;
    struct cond work;  /* something to read, or an arena came free */
    struct cond ready; /* a window is complete */
    struct cond walked_on;
    struct walked *walked; /* of each shard, of a kind that walks: what is known; else NULL */
    struct arena *arenas;
    struct reading *threads;
    struct advice advice;
    bool opening;                     /* windows are opened one after the other */
    uint64_t shift;                   /* of windows that are opened */
    uint64_t next_sweep, next_number; /* the window that is opened next */
    uint64_t opened, taken;           /* sequence numbers */
    uint64_t largest_record;          /* bytes, seen so far */
    atomic_bool cancelled;
    _Atomic uint64_t bytes_read, memory;
};

/* Reads the piece; *last: the run is now complete. */
IMREC_NODISCARD enum imrec_status
piece_read(struct loader *l, const struct piece *p, bool *last, struct imrec_error *err);
/* Fetches the records of a run. IMREC_ERR_CANCELLED, too, is what the window fails with. */
IMREC_NODISCARD enum imrec_status
run_fetch(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err);
/* Finds those of a run of a kind that walks, into t->found; as run_parse(), which calls it. */
IMREC_NODISCARD enum imrec_status
run_walk(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err);
/* Memory that lives as long as the window; NULL: none. */
uint8_t *run_extra(struct loader *l, struct arena *a, uint64_t bytes);
/* Bytes of the run's shard that are not in it. */
IMREC_NODISCARD enum imrec_status run_read_more(struct loader *l, struct run *r, uint64_t offset,
                                                uint8_t *to, uint64_t n, struct imrec_error *err);
/* Notes damage; *notes counts those of a cell, of which the last one becomes longer. */
IMREC_NODISCARD enum imrec_status
run_damaged(struct run *r, const struct walk_item *item, uint32_t *notes, struct imrec_error *err);
/* Puts t->found, joined, after what other runs of the window have handed in. */
IMREC_NODISCARD enum imrec_status
run_hand_in(struct reading *t, struct arena *a, const struct run *r, struct imrec_error *err);
/* Finds the records of a complete run. IMREC_ERR_CANCELLED when nobody wants them any more. */
IMREC_NODISCARD enum imrec_status
run_parse(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err);
#endif
