/* storage/wire/parts.h - a long read as parts that are under way at once.
 *
 * The reading thread deals the parts out, waits for any of them, and asks the store what follows
 * from an answer. After an error that lasts, and when reading is cancelled, the others are
 * cancelled and waited for: nobody writes to the caller's memory after its return. */
#ifndef IMREC_STORAGE_WIRE_PARTS_H
#define IMREC_STORAGE_WIRE_PARTS_H

#include "storage/store/scope.h"
#include "storage/wire/pace.h"
#include "storage/wire/wire.h"

#define PARTS_MOST 8 /* of a read, at once */

struct wire_hedge {      /* a second request for the bytes of a part */
    struct wire_job job; /* first */
    struct wire_part *of;
    uint8_t *bytes; /* its own: the first request still writes to the caller's */
    uint64_t begin;
    bool out; /* it is under way */
};

struct wire_part {
    struct wire_job job; /* first */
    uint64_t begin, end; /* bytes of the object that are still to come */
    uint8_t *to;         /* of byte `begin` */
    uint64_t begun_ns;   /* when this try was */
    uint64_t calm_ns;    /* no hedge before: the last was refused */
    uint64_t due_ns;     /* when it is to be tried again; 0: it is under way, or unused */
    struct wire_hedge *hedge;
    bool used, done; /* done: a hedge has its bytes, or it has them and its hedge is awaited */
    bool out;        /* the job is under way */
};

/* Of a store; `user` is its object. */
struct wire_parts_ops {
    size_t size;       /* of its struct, whose first member is the wire_part */
    size_t part_bytes; /* that one part asks for at most */
    /* Begins a part: its own members. NULL: it has none. */
    void (*make)(void *user, struct wire_part *p);
    /* Asks for bytes [p->begin, p->end), to be written to `to`: submits `job`, which is p's or a
     * hedge's. */
    enum imrec_status (*ask)(void *user, struct wire_part *p, struct wire_job *job, uint8_t *to,
                             struct wire_group *group, struct imrec_error *err);
    /* What follows from p->job's answer; *again: p is asked for what is still to come, after
     * *wait_ms. */
    enum imrec_status (*finish)(void *user, struct wire_part *p, bool *again, uint64_t *wait_ms,
                                struct imrec_error *err);
    /* Whether a hedge's answer is all that was asked for. NULL: there are no hedges. */
    bool (*is_good)(const void *user, const struct wire_job *job);
    void (*free)(struct wire_part *p); /* its own members; NULL: it has none */
};

struct wire_reading {
    const struct wire_parts_ops *ops;
    void *user;
    const char *shown;            /* in messages */
    const atomic_bool *cancelled; /* reading ends */
    struct wire_pace *pace;       /* NULL without is_good() */
    struct traffic *traffic;      /* NULL: nobody counts */
};

IMREC_NODISCARD enum imrec_status wire_read_parts(const struct wire_reading *r, uint64_t offset,
                                                  uint8_t *to, size_t n, struct imrec_error *err);
#endif
