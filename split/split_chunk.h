/* split/split_chunk.h - a chunk in memory: filled by any thread, then taken apart by one.
 *
 * Of RecordIO it is records one after the other, as in their files, and a list of them and of the
 * damage between them. Of text it is the bytes of whole lines; lines are found when they are asked
 * for, for there can be more of them than bytes for a list. */
#ifndef IMREC_SPLIT_SPLIT_CHUNK_H
#define IMREC_SPLIT_SPLIT_CHUNK_H

#include "container/walk/recordio_scan.h"
#include "split/split_set.h"

struct split_item {       /* a record, or damage */
    uint64_t offset, end; /* bytes of the file */
    size_t at;            /* where the record is in the chunk */
    uint32_t file;
    uint32_t why; /* of damage: number of its reason + 1; 0: a record */
};

struct split_chunk {
    uint8_t *p; /* what is delivered */
    uint64_t room;
    size_t n;
    /* Of RecordIO: */
    struct split_item *items;
    uint64_t item_room;
    size_t count;
    struct imrec_error *why;
    uint64_t why_room;
    uint32_t why_count;
    uint8_t *read; /* with an index: what is read at once */
    uint64_t read_room;
    struct scan scan; /* without one */
    /* Of text: p[begin, stop) are lines, and p[0] is byte `base` of the file. */
    uint32_t file;
    uint64_t base;
    size_t begin, stop;
    size_t lf; /* the next LF at or after where it was looked for, or n */
    struct hole *holes;
    /* Of who takes it apart: an item, or of text a byte after base. */
    size_t next;
};

/* Fills the chunk with number i of a pass. What is damaged or cannot be read is in it; failures are
 * those of memory. */
IMREC_NODISCARD enum imrec_status split_chunk_load(struct split_chunk *c, const struct split_set *s,
                                                   uint64_t pass, uint64_t i,
                                                   struct imrec_error *err);
/* The next record, or all up to the end or to damage. IMREC_END: there are no more; IMREC_ERR_DATA:
 * damage, after which the next call continues. */
IMREC_NODISCARD enum imrec_status split_chunk_next(struct split_chunk *c, const struct split_set *s,
                                                   struct imrec_split_bytes *out,
                                                   struct imrec_error *err);
IMREC_NODISCARD enum imrec_status split_chunk_rest(struct split_chunk *c, const struct split_set *s,
                                                   struct imrec_split_bytes *out,
                                                   struct imrec_error *err);
/* The place of the next record, from 0; going to one in a chunk of which nothing was taken. */
static inline uint64_t split_chunk_place(const struct split_chunk *c)
{
    return c->next;
}
IMREC_NODISCARD enum imrec_status split_chunk_seek(struct split_chunk *c, const struct split_set *s,
                                                   uint64_t place, struct imrec_error *err);
void split_chunk_free(struct split_chunk *c); /* what it holds; zeroed memory is fine */
#endif
