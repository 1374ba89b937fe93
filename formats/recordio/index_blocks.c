/*
 * formats/recordio/index_blocks.c - .idxb, the binary index of a shard.
 *
 *     "IMRECIDX" | u32 version 1 | u32 shard's number | u32 4096 | u32 flags | u64 entries |
 *     u64 shard bytes | u64 hash before | u64 hash after | u32 CRC-32C of the shard's first 4096
 *     bytes | u32 CRC-32C of these 60
 *     u64 offset | u64 key                            4096 of them a block, fewer in the last
 *     u32 CRC-32C of the block's number (u64) and its entries
 * little-endian. Every block's place follows from its number, so any of them is read alone; its
 * number is in the checksum, so that no block can be taken for another one.
 */
#include "formats/recordio/index_blocks.h"

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/recordio/recordio.h"

#include <inttypes.h>

#define VERSION 1u

enum { /* offsets in the header */
       AT_VERSION = 8,
       AT_NUMBER = 12,
       AT_BLOCK = 16,
       AT_FLAGS = 20,
       AT_COUNT = 24,
       AT_SHARD = 32,
       AT_BEFORE = 40,
       AT_AFTER = 48,
       AT_SHARD_CRC = 56,
       AT_CRC = 60,
};

static const uint8_t magic[8] = {'I', 'M', 'R', 'E', 'C', 'I', 'D', 'X'};

/* ---- what the header says of the entries -------------------------------------------------- */

uint64_t index_blocks_hash(uint64_t hash, uint32_t number, struct index_entry e)
{
    const uint64_t prime = 0x100000001b3u; /* FNV-1a, a word at a time */
    hash = (hash ^ number) * prime;
    hash = (hash ^ e.offset) * prime;
    return (hash ^ e.key) * prime;
}

uint32_t index_blocks_plain(const struct index_entry *e, uint64_t n, uint64_t bytes)
{
    for (uint64_t i = 0; i < n; i++)
        if (e[i].key == 0 &&
            (i + 1 < n ? e[i + 1].offset : bytes) - e[i].offset == INDEX_BLOCKS_HEADER_BYTES)
            return 0;
    return INDEX_BLOCKS_PLAIN;
}

/* ---- writing ------------------------------------------------------------------------------ */

void index_blocks_write_head(const struct index_blocks *h, uint8_t out[INDEX_BLOCKS_HEAD_BYTES])
{
    memset(out, 0, INDEX_BLOCKS_HEAD_BYTES);
    memcpy(out, magic, sizeof(magic));
    store_le32(out + AT_VERSION, VERSION);
    store_le32(out + AT_NUMBER, h->number);
    store_le32(out + AT_BLOCK, INDEX_BLOCKS_ENTRIES);
    store_le32(out + AT_FLAGS, h->flags);
    store_le64(out + AT_COUNT, h->count);
    store_le64(out + AT_SHARD, h->shard_bytes);
    store_le64(out + AT_BEFORE, h->hash_before);
    store_le64(out + AT_AFTER, h->hash_after);
    store_le32(out + AT_SHARD_CRC, h->shard_crc);
    store_le32(out + AT_CRC, crc32c(0, out, AT_CRC));
}

static uint32_t block_crc(uint64_t number, const uint8_t *p, size_t n)
{
    uint8_t seed[8];
    store_le64(seed, number);
    return crc32c(crc32c(0, seed, sizeof(seed)), p, n);
}

size_t index_blocks_write(uint64_t number, const struct index_entry *e, size_t n,
                          uint8_t out[INDEX_BLOCKS_BLOCK_BYTES])
{
    uint8_t *p = out;
    for (size_t i = 0; i < n; i++, p += INDEX_BLOCKS_ENTRY_BYTES) {
        store_le64(p, e[i].offset);
        store_le64(p + 8, e[i].key);
    }
    store_le32(p, block_crc(number, out, n * INDEX_BLOCKS_ENTRY_BYTES));
    return n * INDEX_BLOCKS_ENTRY_BYTES + 4;
}

/* ---- reading ------------------------------------------------------------------------------ */

uint64_t index_blocks_total(const struct index_blocks *h)
{
    return h->count / INDEX_BLOCKS_ENTRIES + (h->count % INDEX_BLOCKS_ENTRIES != 0);
}

uint64_t index_blocks_begin(uint64_t number)
{
    return INDEX_BLOCKS_HEAD_BYTES + number * INDEX_BLOCKS_BLOCK_BYTES;
}

size_t index_blocks_entries(const struct index_blocks *h, uint64_t number)
{
    const uint64_t left = h->count - number * INDEX_BLOCKS_ENTRIES;
    return left < INDEX_BLOCKS_ENTRIES ? (size_t)left : INDEX_BLOCKS_ENTRIES;
}

static enum imrec_status check_form(const char *name, struct bytes head, struct imrec_error *err)
{
    static const struct {
        uint32_t at, value;
        const char *what;
    } fixed[] = {{AT_VERSION, VERSION, "version"},
                 {AT_BLOCK, INDEX_BLOCKS_ENTRIES, "entries of a block"}};
    if (head.n < sizeof(magic) || memcmp(head.p, magic, sizeof(magic)) != 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0,
                              "%s: not a binary index: it does not begin with IMRECIDX", name);
    if (head.n < INDEX_BLOCKS_HEAD_BYTES)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, head.n,
                              "%s: the header has %u bytes, the file only %zu: it is cut short",
                              name, INDEX_BLOCKS_HEAD_BYTES, head.n);
    const uint32_t found = load_le32(head.p + AT_CRC), is = crc32c(0, head.p, AT_CRC);
    if (found != is)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, AT_CRC,
                              "%s: the header's checksum is 0x%08" PRIx32
                              ", its bytes have 0x%08" PRIx32,
                              name, found, is);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        if (load_le32(head.p + fixed[i].at) != fixed[i].value)
            return imrec_error_at(
                err, IMREC_ERR_UNSUPPORTED, fixed[i].at,
                "%s: %s %" PRIu32 " of a binary index, this reader knows %" PRIu32, name,
                fixed[i].what, load_le32(head.p + fixed[i].at), fixed[i].value);
    const uint32_t flags = load_le32(head.p + AT_FLAGS);
    if (flags != INDEX_BLOCKS_EXTENTS &&
        (flags & ~(uint32_t)(INDEX_BLOCKS_COMPLETE | INDEX_BLOCKS_PLAIN)) != 0)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, AT_FLAGS,
                              "%s: flags 0x%" PRIx32 " of a binary index, this reader knows 1 and "
                              "2, or 4",
                              name, flags);
    return IMREC_OK;
}

/* `count` fits the shard, so that the sum below does not overflow. */
static enum imrec_status check_sizes(const char *name, const struct index_blocks *h,
                                     uint64_t file_bytes, struct imrec_error *err)
{
    if (h->shard_bytes > INT64_MAX)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, AT_SHARD,
                              "%s: a shard of %" PRIu64 " bytes; one has %" PRId64 " at most", name,
                              h->shard_bytes, INT64_MAX);
    if (h->count > h->shard_bytes / RECORDIO_PART_HEAD_BYTES)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, AT_COUNT,
                              "%s: %" PRIu64 " entries, but a shard of %" PRIu64
                              " bytes has %" PRIu64 " records at most",
                              name, h->count, h->shard_bytes,
                              h->shard_bytes / RECORDIO_PART_HEAD_BYTES);
    uint64_t bytes, sums = 4 * index_blocks_total(h) + INDEX_BLOCKS_HEAD_BYTES;
    if (__builtin_mul_overflow(h->count, INDEX_BLOCKS_ENTRY_BYTES, &bytes) ||
        __builtin_add_overflow(bytes, sums, &bytes) || bytes != file_bytes)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, file_bytes,
                              "%s: %" PRIu64 " bytes, an index of %" PRIu64 " entries has %" PRIu64,
                              name, file_bytes, h->count, bytes);
    return IMREC_OK;
}

enum imrec_status index_blocks_read_head(const char *name, struct bytes head, uint64_t file_bytes,
                                         struct index_blocks *out, struct imrec_error *err)
{
    IMREC_TRY(check_form(name, head, err));
    *out = (struct index_blocks){.count = load_le64(head.p + AT_COUNT),
                                 .shard_bytes = load_le64(head.p + AT_SHARD),
                                 .hash_before = load_le64(head.p + AT_BEFORE),
                                 .hash_after = load_le64(head.p + AT_AFTER),
                                 .shard_crc = load_le32(head.p + AT_SHARD_CRC),
                                 .number = load_le32(head.p + AT_NUMBER),
                                 .flags = load_le32(head.p + AT_FLAGS)};
    return check_sizes(name, out, file_bytes, err);
}

static enum imrec_status check_extent(const char *name, const struct index_blocks *h, uint64_t at,
                                      const struct index_entry *e, bool first,
                                      struct imrec_error *err)
{
    if (e->key == 0 || e->offset >= h->shard_bytes || h->shard_bytes - e->offset < e->key)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "%s: a record of %" PRIu64 " bytes at %" PRIu64
                              ", the shard has %" PRIu64,
                              name, e->key, e->offset, h->shard_bytes);
    if (!first && e->offset - e[-1].offset < e[-1].key)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "%s: a record begins at %" PRIu64
                              ", in the one before it, of %" PRIu64 " bytes at %" PRIu64,
                              name, e->offset, e[-1].key, e[-1].offset);
    return IMREC_OK;
}

static enum imrec_status check_entry(const char *name, const struct index_blocks *h, uint64_t at,
                                     const struct index_entry *e, bool first,
                                     struct imrec_error *err)
{
    const bool extents = h->flags == INDEX_BLOCKS_EXTENTS;
    if (!extents && e->offset % RECORDIO_ALIGN != 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "%s: offset %" PRIu64
                              " is not a multiple of 4; records begin only at those",
                              name, e->offset);
    if (!extents &&
        (e->offset >= h->shard_bytes || h->shard_bytes - e->offset < RECORDIO_PART_HEAD_BYTES))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "%s: no record can begin at %" PRIu64 ", the shard has %" PRIu64
                              " bytes",
                              name, e->offset, h->shard_bytes);
    if (!first && e[-1].offset >= e->offset)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "%s: offset %" PRIu64 " follows %" PRIu64 "; they must ascend", name,
                              e->offset, e[-1].offset);
    return extents ? check_extent(name, h, at, e, first, err) : IMREC_OK;
}

enum imrec_status index_blocks_read(const char *name, const struct index_blocks *h, uint64_t number,
                                    const uint8_t *p, struct index_entry *out,
                                    struct imrec_error *err)
{
    const size_t n = index_blocks_entries(h, number), bytes = n * INDEX_BLOCKS_ENTRY_BYTES;
    const uint64_t begin = index_blocks_begin(number);
    const uint32_t found = load_le32(p + bytes), is = block_crc(number, p, bytes);
    if (found != is)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, begin + bytes,
                              "%s: the checksum of block %" PRIu64 " is 0x%08" PRIx32
                              ", its bytes have 0x%08" PRIx32,
                              name, number, found, is);
    for (size_t i = 0; i < n; i++, p += INDEX_BLOCKS_ENTRY_BYTES) {
        out[i] = (struct index_entry){load_le64(p), load_le64(p + 8)};
        IMREC_TRY(check_entry(name, h, begin + i * INDEX_BLOCKS_ENTRY_BYTES, &out[i], i == 0, err));
    }
    if (number == 0 && (h->flags & INDEX_BLOCKS_COMPLETE) != 0 && out[0].offset != 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, begin,
                              "%s: its flags say that it lists every record, but its first one is "
                              "at %" PRIu64 ", not 0",
                              name, out[0].offset);
    return IMREC_OK;
}
