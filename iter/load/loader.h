/* iter/load/loader.h - windows of records, read ahead by threads of its own.
 *
 * A window is a list of units; its records are in one reused, huge-page arena. Windows of
 * all sweeps form one sequence: (sweep, 0), (sweep, 1), ..., (sweep + 1, 0), ... Reads of
 * adjacent units are merged, about 16 MiB a read at most. The arena is private: records of several
 * parts are joined in place. */
#ifndef IMREC_ITER_LOAD_LOADER_H
#define IMREC_ITER_LOAD_LOADER_H

#include "base/bytes.h"
#include "container/container.h"

enum damage_kind {
    DAMAGE_BYTES,    /* they hold no readable record */
    DAMAGE_RECORD,   /* of an index, or a table like it: it is lost, and has its slot */
    DAMAGE_UNLISTED, /* an index does not list them: records are there, or (with `why`) none */
};

struct damage { /* bytes [begin, end) of a shard */
    enum damage_kind kind;
    uint32_t shard;
    uint64_t begin, end;
    struct imrec_error why; /* IMREC_OK: an index omits records */
};

struct window {
    uint64_t sweep, number;     /* in the sweep */
    uint64_t shift;             /* of loader_shift(), when it was opened */
    struct record_ref *records; /* in the order of delivery */
    uint64_t count;
    struct damage *damages; /* but for lost records; in file order */
    uint64_t damage_count;
};

struct loader_options {
    struct container *container;
    uint32_t arenas;      /* windows in memory at once: in use + being filled, >= 2 */
    uint32_t threads;     /* that read; windows are taken in order whatever finishes first */
    uint64_t windows;     /* of a sweep, >= 1 */
    uint64_t arena_bytes; /* nominal; a larger window grows its arena */
    void *context;
    /* Units of window w->number: its first place in the sweep's order and how many. */
    void (*extent)(void *context, const struct window *w, uint64_t *first, uint64_t *count);
    /* The unit at place i of the sweep's order. Any thread, but of the two one at a time. */
    uint64_t (*unit_at)(void *context, const struct window *w, uint64_t i);
    /* Puts w->records, which are in the order of their units (cells: by offset inside), into
     * the order of delivery. Any thread. */
    void (*order)(void *context, struct window *w);
};

struct loader;

/* Starts reading at (sweep, number). */
IMREC_NODISCARD enum imrec_status loader_start(const struct loader_options *o, uint64_t sweep,
                                               uint64_t number, struct loader **out,
                                               struct imrec_error *err);
/* The next window in sequence; waits. The caller holds it once. IMREC_ERR_CANCELLED after
 * loader_cancel(); IMREC_ERR_NO_MEMORY when its arena could not grow. Unreadable bytes are no
 * error here: they are damage (no index) or lost records (index). *waited_ns is added to. */
IMREC_NODISCARD enum imrec_status
loader_take(struct loader *l, struct window **out, uint64_t *waited_ns, struct imrec_error *err);
void loader_hold(struct loader *l, struct window *w);    /* any thread that holds it already */
void loader_release(struct loader *l, struct window *w); /* the last one gives the arena back */
/* Forgets what was read ahead and continues at (sweep, number). Windows still held stay valid. */
void loader_seek(struct loader *l, uint64_t sweep, uint64_t number);
/* What windows that are opened from now on get as `shift`; 0 before. loader_seek() comes next. */
void loader_shift(struct loader *l, uint64_t shift);
void loader_cancel(struct loader *l); /* wakes every waiter */
/* Why the lost record failed; text lives as long as the window is held. */
const struct imrec_error *loader_lost_reason(const struct window *w, const struct record_ref *r);
/* What the tables of a window of `units` listed records take at most, bytes; `apart`: that are not
 * neighbours in their shards. */
uint64_t loader_table_bytes(uint64_t units, bool apart);
uint64_t loader_bytes_read(const struct loader *l);
uint64_t loader_memory(const struct loader *l); /* arenas and tables, bytes */
void loader_stop(struct loader *l);             /* cancel, join, free; NULL is fine */
#endif
