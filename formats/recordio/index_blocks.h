/* formats/recordio/index_blocks.h - .idxb: the places of a shard's records as blocks of one width,
 * each with its checksum. docs/formats/idxb.md is the specification. */
#ifndef IMREC_FORMATS_RECORDIO_INDEX_BLOCKS_H
#define IMREC_FORMATS_RECORDIO_INDEX_BLOCKS_H

#include "base/bytes.h"
#include "imrec/error.h"

#define INDEX_BLOCKS_HEAD_BYTES  64u
#define INDEX_BLOCKS_ENTRY_BYTES 16u
#define INDEX_BLOCKS_ENTRIES     4096u /* of each block but the last */
#define INDEX_BLOCKS_BLOCK_BYTES (INDEX_BLOCKS_ENTRIES * INDEX_BLOCKS_ENTRY_BYTES + 4)
#define INDEX_BLOCKS_SHARD_HEAD  4096u /* bytes of the shard, or all, that shard_crc is of */

struct index_entry {
    uint64_t offset, key;
};
enum {
    INDEX_BLOCKS_COMPLETE = 1, /* records follow each other from byte 0 to the shard's end */
    INDEX_BLOCKS_PLAIN = 2,    /* no record of key 0 takes INDEX_BLOCKS_HEADER_BYTES: metadata's */
    INDEX_BLOCKS_EXTENTS = 4, /* alone: no RecordIO; records begin anywhere, keys are their bytes */
};
#define INDEX_BLOCKS_HEADER_BYTES 40u
#define INDEX_BLOCKS_HASH_BEGIN   UINT64_C(0xcbf29ce484222325) /* before the set's first record */

struct index_blocks { /* what the header says */
    uint64_t count;   /* of entries */
    uint64_t shard_bytes;
    uint64_t hash_before, hash_after; /* index_blocks_hash() before and after this shard's */
    uint32_t shard_crc;
    uint32_t number; /* of the shard in its set */
    uint32_t flags;
};

/* The running hash of all records of a set after one more, of shard `number`. */
uint64_t index_blocks_hash(uint64_t hash, uint32_t number, struct index_entry e);
/* Whether these, in ascending order, can be all records of a shard of `bytes`, none metadata:
 * INDEX_BLOCKS_PLAIN or 0. */
uint32_t index_blocks_plain(const struct index_entry *e, uint64_t n, uint64_t bytes);

void index_blocks_write_head(const struct index_blocks *h, uint8_t out[INDEX_BLOCKS_HEAD_BYTES]);
/* Writes block `number`, of e[0..n), n <= INDEX_BLOCKS_ENTRIES; returns its bytes. */
size_t index_blocks_write(uint64_t number, const struct index_entry *e, size_t n,
                          uint8_t out[INDEX_BLOCKS_BLOCK_BYTES]);

/* Checks the first bytes of a file of `file_bytes`; head.n is INDEX_BLOCKS_HEAD_BYTES, or all.
 * `name` is the file's, for messages, here and below. IMREC_ERR_CORRUPT, IMREC_ERR_UNSUPPORTED. */
IMREC_NODISCARD enum imrec_status
index_blocks_read_head(const char *name, struct bytes head, uint64_t file_bytes,
                       struct index_blocks *out, struct imrec_error *err);
uint64_t index_blocks_total(const struct index_blocks *h);                  /* how many blocks */
uint64_t index_blocks_begin(uint64_t number);                               /* offset in the file */
size_t index_blocks_entries(const struct index_blocks *h, uint64_t number); /* of a block */
/* Checks block `number`, all bytes of it at p, and fills out[0..index_blocks_entries()). Offsets
 * are multiples of 4, ascend, and leave room for a record in the shard; of extents, records end
 * before the next one begins. */
IMREC_NODISCARD enum imrec_status
index_blocks_read(const char *name, const struct index_blocks *h, uint64_t number, const uint8_t *p,
                  struct index_entry *out, struct imrec_error *err);
#endif
