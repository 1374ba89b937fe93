/* storage/packed/gzip_source.h - a file that gzip has packed, unpacked while it is read (RFC 1952:
 * one member or several, zeros may follow).
 *
 * It is read from its begin on. What was unpacked last is kept, so that neighbouring reads may come
 * in any order; of the rest places are remembered from which unpacking can begin again. Memory is
 * bounded, whatever the file: GZIP_HELD_BYTES. */
#ifndef IMREC_STORAGE_PACKED_GZIP_SOURCE_H
#define IMREC_STORAGE_PACKED_GZIP_SOURCE_H

#include "storage/source.h"

#define GZIP_HELD_BYTES ((uint64_t)24 << 20)
#define GZIP_HEAD_BYTES 3u

/* Whether a file begins with the head of gzip. */
bool gzip_is_head(const uint8_t first[GZIP_HEAD_BYTES]);
/* A source over `inner`, owned from here on, also on failure. Its `size` is no size: nobody knows
 * it before gzip_source_reach() has. far: a read of `inner` takes a round trip.
 * IMREC_ERR_UNSUPPORTED: this build has no zlib. Reads wait for each other; of a byte that is not
 * there they are IMREC_ERR_CORRUPT. `name` is for messages. */
IMREC_NODISCARD enum imrec_status gzip_source_open(struct source *inner, const char *name, bool far,
                                                   struct source **out, struct imrec_error *err);
/* How many unpacked bytes there are, or `bytes` if there are as many at least: it is unpacked as
 * far as that. */
uint64_t gzip_source_reach(struct source *s, uint64_t bytes);
/* IMREC_OK: so far nothing was wrong with it; else what ends the bytes that there are. */
enum imrec_status gzip_source_damage(struct source *s, struct imrec_error *err);
#endif
