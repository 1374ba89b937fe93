/* augment/scratch.h - memory that a worker's resizes use again and again. */
#ifndef IMREC_AUGMENT_SCRATCH_H
#define IMREC_AUGMENT_SCRATCH_H

#include "augment/resize.h"

/* What a room is used for; each keeps the largest size it ever had. */
enum scratch_room {
    ROOM_FIRST,  /* tables of the x axis */
    ROOM_SECOND, /* of it too */
    ROOM_WEIGHT, /* of it too */
    ROOM_Y,      /* tables of the y axis */
    ROOM_Y_WEIGHT,
    ROOM_ROWS, /* rows between the two passes */
    SCRATCH_ROOMS,
};

struct resize_scratch {
    struct {
        void *memory;
        size_t capacity;
    } rooms[SCRATCH_ROOMS];
};

/* count * size bytes on a cache line's start, and 64 bytes more that vectors may touch. The
 * contents are undefined. NULL on overflow or no memory. */
void *scratch_room(struct resize_scratch *s, enum scratch_room room, size_t count, size_t size);
enum imrec_status scratch_no_memory(struct imrec_error *err);
#endif
