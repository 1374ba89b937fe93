/* minibatch/plan/timeline.h - sequences on a line of samples that never ends: sweep k is the corpus
 * in an order of its own. Pure: it knows chunks by their counts and asks for lengths.
 *
 * Randomized, the chunks of a sweep are permuted and cut into groups of half a window at most
 * (one group in use, one being filled), of two chunks where the window has room for no more; the
 * sequences of a group are permuted. What fits into the window is one group. Everything is a
 * function of seed + sweep. */
#ifndef IMREC_MINIBATCH_PLAN_TIMELINE_H
#define IMREC_MINIBATCH_PLAN_TIMELINE_H

#include "imrec/error.h"

struct timeline_chunk {
    uint32_t sequences;
    uint64_t samples; /* sum of its sequences' lengths */
};

struct timeline_options {
    bool randomize;
    uint64_t seed;
    uint64_t window_chunks;             /* 0: no bound in chunks */
    uint64_t window_samples;            /* 0: no bound in samples */
    const struct timeline_chunk *chunk; /* borrowed */
    uint32_t chunks;
    /* The samples of a chunk's sequence. May read. */
    enum imrec_status (*length)(void *context, uint32_t chunk, uint32_t sequence, uint32_t *out,
                                struct imrec_error *err);
    /* May be NULL: length() will soon be asked for this sequence. */
    void (*soon)(void *context, uint32_t chunk, uint32_t sequence);
    void *context;
};

struct timeline_item { /* one sequence in its place */
    uint32_t chunk, sequence;
    uint32_t length;   /* samples */
    uint64_t position; /* its first sample on the line */
    uint64_t sweep;
    uint64_t number;      /* in its sweep's order, from 0 */
    uint32_t chunk_place; /* of its chunk in the sweep's order of chunks */
    bool last;            /* of its sweep */
};

struct timeline;

/* A corpus without a sample is IMREC_ERR_DATA. */
IMREC_NODISCARD enum imrec_status
timeline_new(const struct timeline_options *o, struct timeline **out, struct imrec_error *err);
void timeline_free(struct timeline *t); /* NULL is allowed */
uint64_t timeline_sweep_samples(const struct timeline *t);
uint64_t timeline_sweep_sequences(const struct timeline *t);

/* Goes to the first sequence that begins at or after `position`. */
IMREC_NODISCARD enum imrec_status
timeline_seek(struct timeline *t, uint64_t position, struct imrec_error *err);
/* Goes to a sequence by its number in a sweep's order; the number of sequences is the next sweep's
 * first. Exact also where sequences of no samples share a position. */
IMREC_NODISCARD enum imrec_status
timeline_seek_number(struct timeline *t, uint64_t sweep, uint64_t number, struct imrec_error *err);
/* The same without the walk that finds the position: for a place that was met before. */
void timeline_jump(struct timeline *t, uint64_t sweep, uint64_t number, uint64_t position);
/* The sequence that comes, without moving. */
IMREC_NODISCARD enum imrec_status
timeline_peek(struct timeline *t, struct timeline_item *out, struct imrec_error *err);
/* Moves past the sequence that timeline_peek() returned. */
void timeline_step(struct timeline *t);

struct timeline_group {
    uint64_t sweep;
    uint32_t number;       /* in its sweep */
    const uint32_t *chunk; /* in the sweep's order */
    uint32_t chunks;
    uint32_t place; /* of the first one in the sweep's order of chunks */
};
/* The group `ahead` of the present one (0: the present one; not randomized: a chunk is a group);
 * across the sweep's end too. Valid until the timeline moves. */
IMREC_NODISCARD enum imrec_status timeline_group(struct timeline *t, uint64_t ahead,
                                                 struct timeline_group *out,
                                                 struct imrec_error *err);
#endif
