/* container/walk/recordio_walk.h - the contents of a cell: records, and damage between them.
 *
 * Pure: it gets bytes and returns what they are, or which bytes it needs. The rules are in
 * docs/reliability.md ("Damage"). A *head* is an aligned magic with part flag 0 or 1.
 *
 *  1. A walk begins at the first head in its cell; at the begin of a shard, at offset 0.
 *  2. Where a head is expected and none is, bytes are damaged up to the next head.
 *  3. A head whose record does not measure, does not fit the shard or cannot be read: the same.
 *  4. A record that measures and is followed by a head or the end of the shard is a record.
 *  5. One that is followed by neither: if a head is inside it, its length is wrong, and it
 *     is damaged up to that head; else it is a record, and the damage begins after it.
 *
 * The walk ends after the last record whose head is in the cell, or after the damage that follows
 * it there: damage is reported by the cell whose record or damage comes before it. But bytes that
 * cannot be read are reported by the cells that hold them, each its own, from the first of them to
 * the next head: no other cell may have tried to read them. */
#ifndef IMREC_CONTAINER_WALK_RECORDIO_WALK_H
#define IMREC_CONTAINER_WALK_RECORDIO_WALK_H

#include "container/walk/unreadable.h"
#include "formats/recordio/recordio.h"

/* Bytes [begin, end) of the shard are at p; begin is a multiple of 4. */
struct view {
    const uint8_t *p;
    uint64_t begin, end;
    const struct hole *holes;
};

enum walk_state { WALK_SYNC, WALK_HEAD, WALK_MEASURE, WALK_PROBE, WALK_INSIDE, WALK_RESYNC };

struct walk {
    uint64_t size;       /* of the shard */
    uint64_t begin, end; /* the cell */
    uint64_t keep, need; /* on WALK_MORE */
    /* private */
    enum walk_state state;
    uint64_t pos, from; /* the place of the walk; where a search continues */
    struct recordio_span span;
    bool torn; /* bytes from torn_at on could not be read, and no head came since */
    uint64_t torn_at;
    bool trusted;                     /* the record at pos is loaded whole, however long it is */
    struct imrec_error why, hole_why; /* last, and set when they mean something */
};

struct walk_item {
    uint64_t begin, end;       /* bytes of the shard */
    struct recordio_span span; /* WALK_RECORD */
    struct imrec_error why;    /* WALK_DAMAGE */
};

enum walk_step {
    WALK_RECORD, /* *out is one; all its bytes are in the view */
    WALK_DAMAGE,
    WALK_MORE, /* call again with a view that covers [keep, need) at least */
    WALK_END,
};

/* The cell [begin, end) of a shard of `size` bytes, begin a multiple of 4. `at_head`: a head is
 * expected at begin, as at the begin of a shard. */
void walk_begin(struct walk *w, uint64_t size, uint64_t begin, uint64_t end, bool at_head);
enum walk_step walk_next(struct walk *w, const struct view *v, struct walk_item *out);
#endif
