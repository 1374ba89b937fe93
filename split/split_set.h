/* split/split_set.h - the files that are split, the part of a reader, and the order of its chunks.
 *
 * Chunks are cells of the grid that container/ lays over a part, or, with an index, equal numbers
 * of its records. Which bytes a chunk has follows from its number, so any thread can read any of
 * them.
 */
#ifndef IMREC_SPLIT_SPLIT_SET_H
#define IMREC_SPLIT_SPLIT_SET_H

#include "container/container.h"
#include "imrec/input_split.h"

struct split_set {
    struct container files;
    struct imrec_input_split_options o; /* its texts are the caller's */
    uint64_t chunks;                    /* of a pass */
    uint64_t chunk_records;             /* with an index */
    uint64_t data;                      /* fingerprint of the files */
};

/* The options are checked. On failure nothing stays open. */
IMREC_NODISCARD enum imrec_status split_set_open(const char *uri,
                                                 const struct imrec_input_split_options *o,
                                                 struct split_set *out, struct imrec_error *err);
void split_set_close(struct split_set *s); /* zeroed memory is fine */

/* The unit at place i of a pass: a cell, or with an index a record. */
uint64_t split_set_unit(const struct split_set *s, uint64_t pass, uint64_t i);
static inline bool split_set_indexed(const struct split_set *s)
{
    return s->files.records != NULL;
}
/* "FILE: bytes 8 to 15 WHAT: why", IMREC_ERR_DATA. why NULL: the reason was not kept. */
enum imrec_status split_set_damage(const struct split_set *s, uint32_t file, uint64_t begin,
                                   uint64_t end, const char *what, const struct imrec_error *why,
                                   struct imrec_error *err);
#endif
