/* im2rec/budget.h - how many bytes of files, pixels and records may be in flight.
 *
 * Pictures are known by their index. One asks for bytes before it takes them and waits while the
 * sum would pass the limit. The oldest picture that is not yet written never waits for a younger
 * one to be written: it goes ahead, alone, also where it is larger than the limit. */
#ifndef IMREC_IM2REC_BUDGET_H
#define IMREC_IM2REC_BUDGET_H

#include "base/threads.h"

struct budget {
    struct mutex lock;
    struct cond moved;
    uint64_t limit, used, peak;
    uint64_t oldest;  /* index of the picture to be written next */
    uint32_t working; /* pictures that hold bytes and are not waiting */
    bool stopped;
};

struct budget_share { /* what one picture holds; zeroed at first */
    uint64_t bytes;
    bool working;
};

void budget_init(struct budget *b, uint64_t limit);
void budget_destroy(struct budget *b);

/* `more` bytes for picture `index`. false: the run is being stopped, nothing was given. */
bool budget_take(struct budget *b, struct budget_share *s, uint64_t index, uint64_t more);
/* The picture is finished and keeps `bytes`, the record that waits to be written. */
void budget_finish(struct budget *b, struct budget_share *s, uint64_t bytes);
/* It is written: gives everything back, and the next one is the oldest. */
void budget_written(struct budget *b, struct budget_share *s);
void budget_stop(struct budget *b);
#endif
