/* dataset/repair_match.h - finds the intact records of a shard by its checksums.
 *
 * Checksums follow the order of the records, not their places: where bytes were inserted or lost,
 * every later record has moved, and is recognized by its length and checksum. match_look() sees all
 * records once; then match_end(); then match_of() answers, again in order.
 * Memory: about 32 bytes a checksum, and 64 a record that has moved. */
#ifndef IMREC_DATASET_REPAIR_MATCH_H
#define IMREC_DATASET_REPAIR_MATCH_H

#include "formats/set/checksums.h"

enum match {
    MATCH_SAME,    /* the bytes that a checksum was made of */
    MATCH_DIFFERS, /* a checksum is left for a record of this length at this place in the order */
    MATCH_NONE,    /* none is */
    MATCH_CHANGED, /* it is not what match_look() saw */
};

struct match_key;
struct match_misfit;
struct repair_match {
    struct checksum_table table; /* its bytes are borrowed */
    bool unsure;                 /* the checksums themselves are damaged: nothing differs */
    uint8_t *used;               /* of each checksum: a record has it, or it was given as gone */
    struct match_key *keys; /* of all checksums, ascending; from match_end() on of those left */
    uint64_t keys_count;
    struct match_misfit *misfits; /* records that are not where a checksum of theirs says */
    uint64_t misfit_count, misfit_room;
    uint64_t last;    /* 1 + the checksum that was met last where it says; 0: none */
    uint64_t missing; /* checksums that no record has; from match_end() on */
    uint64_t at;      /* of misfits, for match_of() */
};

/* `unsure`: *sums are of checksums_salvage(). */
IMREC_NODISCARD enum imrec_status match_begin(const struct checksums *sums, bool unsure,
                                              struct repair_match *out, struct imrec_error *err);
/* The next record, in order: where it begins, its framed bytes and their checksum. */
IMREC_NODISCARD enum imrec_status match_look(struct repair_match *m, uint64_t offset,
                                             uint32_t framed_bytes, uint32_t crc,
                                             struct imrec_error *err);
IMREC_NODISCARD enum imrec_status match_end(struct repair_match *m, struct imrec_error *err);
/* The same records in the same order. */
enum match match_of(struct repair_match *m, uint64_t offset, uint32_t framed_bytes, uint32_t crc);
/* After MATCH_DIFFERS: the checksum of the record it was, which counts as found. */
bool match_meant(struct repair_match *m, struct checksum *out);
/* The first checksum of a record that is gone, with a place in [begin, end), which no earlier call
 * gave; false: there is none. After match_end(). */
bool match_gone(struct repair_match *m, uint64_t begin, uint64_t end, struct checksum *out);
void match_free(struct repair_match *m); /* zeroed memory is fine */
#endif
