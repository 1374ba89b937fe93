/* augment/resize/scratch.h - memory that a worker's resizes use again and again. */
#ifndef IMREC_AUGMENT_RESIZE_SCRATCH_H
#define IMREC_AUGMENT_RESIZE_SCRATCH_H

#include "augment/resize/resize.h"
#include "base/stop.h"

/* What a room is used for; each keeps the largest size it ever had. */
enum scratch_room {
    ROOM_FIRST,  /* tables of the x axis */
    ROOM_SECOND, /* of it too */
    ROOM_WEIGHT, /* of it too */
    ROOM_WINDOW, /* of its blocks */
    ROOM_PICKS,  /* of them too */
    ROOM_SHARES, /* of them too */
    ROOM_ROWS,   /* rows between the two passes */
    ROOM_RING,   /* which of them is where */
    ROOM_EDGE,   /* the last rows of an image, with room after them */
    ROOM_KEPT,   /* an image that chains of operations begin with */
    ROOM_SUM,    /* their weighted sum */
    SCRATCH_ROOMS,
};

/* Tables of one axis, kept for the next image of that size. */
struct scratch_key {
    uint32_t from, to, kind; /* px, px, and what the tables are for; kind is not 0 */
    uint32_t begin, count;   /* the part of the result that they are for */
    struct resize_part part; /* of the source */
};
enum { SCRATCH_KIND_WARP = 1000 }; /* others: resample_axis.c */
enum { SCRATCH_TABLES = 16 };      /* two for each of the sizes that photographs often have */

struct resize_scratch {
    struct {
        void *memory;
        size_t capacity;
    } rooms[SCRATCH_ROOMS];
    struct scratch_table {
        struct scratch_key key;
        uint64_t used; /* when: a number that grows */
        void *memory;
        size_t capacity;
    } tables[SCRATCH_TABLES];
    uint64_t uses;
    const struct stop *stop;
};

/* count * size bytes on a cache line's start, and 64 bytes more that vectors may touch. The
 * contents are undefined. NULL on overflow or no memory. */
void *scratch_room(struct resize_scratch *s, enum scratch_room room, size_t count, size_t size);
/* The memory of that key, `bytes` of it on a cache line's start: as it was left, or, with *fresh,
 * with undefined contents in the place of the tables that were longest unused. */
void *scratch_table(struct resize_scratch *s, struct scratch_key key, size_t bytes, bool *fresh);
enum imrec_status scratch_no_memory(struct imrec_error *err);
#endif
