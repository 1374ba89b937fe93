/* storage/wire/pace.h - how long requests take: which of them is among the slowest tenth.
 *
 * For each host and size of request the ninth decile is kept, as a number that a slower request
 * raises and a faster one lowers (a stochastic approximation, Robbins and Monro, 1951). A request
 * that takes longer gets a second one, a hedge (Dean and Barroso, "The Tail at Scale", 2013), for
 * at most one request in ten. */
#ifndef IMREC_STORAGE_WIRE_PACE_H
#define IMREC_STORAGE_WIRE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_SIZES 8 /* up to 32 KiB, 64 KiB, ..., 2 MiB, and more */

struct wire_pace { /* of a host; any thread */
    _Atomic uint64_t decile_ns[PACE_SIZES], seen[PACE_SIZES];
    _Atomic uint64_t requests, hedges;
};

/* That of the URL's host; hosts may share one. */
struct wire_pace *wire_pace_of(const char *url);
/* A request of this many bytes took this long. */
void wire_pace_note(struct wire_pace *p, size_t bytes, uint64_t ns);
/* After how long such a request is worth a hedge; UINT64_MAX: too little is known. */
uint64_t wire_pace_slow_ns(const struct wire_pace *p, size_t bytes);
/* Whether one more hedge is one in ten at most; it is then counted. */
bool wire_pace_hedge(struct wire_pace *p);
#endif
