/* iter/load/advice.h - announcing reads to the source, where that helps. Private to the loader.
 *
 * Advice costs a walk over the pages, a twentieth of reading them from memory. So now and then
 * it is omitted, and stays off as long as reads come as fast as from memory all the same. */
#ifndef IMREC_ITER_LOAD_ADVICE_H
#define IMREC_ITER_LOAD_ADVICE_H

#include "iter/load/arena.h"

struct advice { /* under the loader's lock */
    bool quiet;
    uint32_t left, patience; /* pieces until it is omitted again */
};

struct piece { /* of a run, to be read now; and runs to tell the source of */
    struct arena *arena;
    struct run *run;
    uint64_t offset, bytes;
    bool rest; /* of the rest of its records: announced with its first piece */
    bool advised;
    uint64_t advise_from, advise_to;
};

/* Before a->next_run moves on: the runs that are announced with this piece. */
void advice_choose(struct advice *v, struct arena *a, struct piece *p);
void advice_give(const struct container *s, const struct piece *p);
/* The piece took so long. */
void advice_learn(struct advice *v, const struct piece *p, uint64_t ns);
#endif
