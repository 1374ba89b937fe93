/* iter/order/sampling.h - which record a sample of a job's sweep is, where a sweep is not every
 * record once: subsets, mixtures, balanced classes, weights, repeated samples. Pure numbers.
 *
 * A stratum (a set of a mixture, a class, or all that there is) has some of the members, and gives
 * a sweep a number of samples that is always the same. It goes through its members lap by lap, each
 * lap a permutation, and sweeps begin where the one before has ended: none is met again before all
 * others were. The samples of all strata are permuted in every sweep. With weights it is systematic
 * sampling instead (Madow 1949): as many points as a sweep has samples, at equal distances from a
 * random one, on a line along which a member has a piece as long as its weight. */
#ifndef IMREC_ITER_ORDER_SAMPLING_H
#define IMREC_ITER_ORDER_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

struct stratum {
    uint64_t first, members; /* of the list of members */
    uint64_t begin;          /* its samples of a sweep, not yet permuted: up to the next one's */
};

struct sampling {
    uint64_t distinct;      /* samples of a sweep but for repeats; 0: there is no sampling */
    uint64_t repeats;       /* samples of each, at least 1 ... */
    uint64_t batch;         /* ... spread over a batch, whose size is a multiple of it */
    bool shuffle;           /* else they come in the order of the members: of one stratum */
    uint64_t *members;      /* numbers of records; NULL: all, in their order */
    uint64_t member_count;  /* below 2^32 with weights, as `distinct` then is */
    struct stratum *strata; /* and the end, where the samples of the last one end */
    uint64_t stratum_count;
    uint64_t *line; /* where the piece of each member ends; NULL: no weights */
    uint64_t print; /* equal where all of the above follows from equal files and options */
};

struct sampled {
    uint64_t record;
    uint64_t lap; /* another one for each sample of the sweep that is this record, from 0 or 1 on */
};

/* Of sample `i` of the sweep, below distinct * repeats. */
struct sampled sampling_at(const struct sampling *s, uint64_t seed, uint64_t sweep, uint64_t i);
uint64_t sampling_memory(const struct sampling *s); /* bytes */
void sampling_free(struct sampling *s);             /* zeroed memory is fine */
#endif
