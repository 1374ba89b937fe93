/* im2rec/item/budget.h - limits the bytes of files, pixels and records in flight; the sum never
 * exceeds the limit.
 *
 * Images are known by their index. Most of the budget is for work on them, the rest for records
 * that wait to be written after an older one. An image reserves all it will hold, and waits only
 * while it holds nothing; room for its record is reserved before work on it begins. So all work
 * ends, and the oldest image, whose record need not wait, needs room for work alone, and gets the
 * next that becomes free. */
#ifndef IMREC_IM2REC_ITEM_BUDGET_H
#define IMREC_IM2REC_ITEM_BUDGET_H

#include "base/threads.h"

struct budget_need {
    uint64_t work;   /* bytes while the image is worked on, with its record */
    uint64_t record; /* of these, the record's at most */
};

struct budget {
    struct mutex lock;
    struct cond moved;
    uint64_t work_limit, record_limit;
    uint64_t work, records; /* given out */
    uint64_t peak;          /* of their sum */
    uint64_t oldest;        /* index of the image to be written next */
    bool oldest_waits;      /* younger ones are given nothing meanwhile */
    bool alone;             /* it works alone: younger ones are given nothing at all */
    bool stopped;
};

struct budget_share { /* what one image holds; zeroed at first */
    struct budget_need has;
    bool as_oldest; /* it has no room among the records that wait */
};

/* What one image may hold of a budget of `limit` bytes: 7/8, but at least 64 MiB. */
uint64_t budget_most(uint64_t limit);

void budget_init(struct budget *b, uint64_t limit);
void budget_destroy(struct budget *b);

/* Whether the image, which may hold something, can have `need` in its place at once. */
bool budget_try(struct budget *b, struct budget_share *s, uint64_t index, struct budget_need need);
/* The same for an image that holds nothing: waits. need.work is at most what one image may hold.
 * false: the run is being stopped, nothing was given. */
bool budget_take(struct budget *b, struct budget_share *s, uint64_t index, struct budget_need need);
/* For an image that holds nothing: waits until it is the oldest and nobody else works, and keeps it
 * so until budget_finish(). What it takes in between is given at once. */
bool budget_alone(struct budget *b, struct budget_share *s, uint64_t index);
/* Gives everything back. */
void budget_drop(struct budget *b, struct budget_share *s);
/* The image is finished and keeps `bytes`, the record that waits to be written. */
void budget_finish(struct budget *b, struct budget_share *s, uint64_t index, uint64_t bytes);
/* It is written: gives everything back, and the next one is the oldest. */
void budget_written(struct budget *b, struct budget_share *s);
void budget_stop(struct budget *b);
#endif
