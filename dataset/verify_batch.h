/* dataset/verify_batch.h - a few records that a verification reads at once, and what reading finds
 * before and between them, in file order. */
#ifndef IMREC_DATASET_VERIFY_BATCH_H
#define IMREC_DATASET_VERIFY_BATCH_H

#include "base/bytes.h"
#include "imrec/dataset.h"
#include "imrec/records.h"

/* A record to be looked at, or a finding that reading itself has made. */
struct verify_item {
    bool is_record;
    uint32_t shard;
    enum imrec_finding_kind kind; /* of the finding; `why` tells */
    uint64_t begin, end, id;
    size_t record, record_bytes; /* in the arena; record_bytes: those in the shard */
    size_t image, image_bytes;   /* in the record; of RecordIO with what follows it */
    size_t mask, mask_bytes;     /* in the arena; 0 bytes: none, or it follows the image */
    bool is_image, summed;
    bool is_metadata;           /* and no sample: nothing is to be decoded */
    size_t framed;              /* in the arena: the record as stored in the shard */
    uint32_t framed_bytes, crc; /* of its checksum */
    uint32_t warnings;
    struct imrec_error why;
};

struct verify_batch {
    struct verify_item *item;
    size_t count;
    uint64_t room;
    uint8_t *arena;
    size_t used;
    uint64_t capacity;
};

/* A zeroed item at the end; NULL: no memory. */
struct verify_item *verify_batch_add(struct verify_batch *b);
/* n bytes more of the arena; *at is where. False: no memory. Moves the arena. */
bool verify_batch_room(struct verify_batch *b, size_t n, size_t *at);
bool verify_batch_full(const struct verify_batch *b);
void verify_batch_clear(struct verify_batch *b); /* what a usual batch takes stays */
void verify_batch_free(struct verify_batch *b);  /* zeroed memory is fine */
#endif
