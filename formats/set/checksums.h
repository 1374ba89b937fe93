/* formats/set/checksums.h - .crc: length and checksum of every record of a shard, in order.
 * docs/formats/checksums.md is the specification. */
#ifndef IMREC_FORMATS_SET_CHECKSUMS_H
#define IMREC_FORMATS_SET_CHECKSUMS_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/error.h"

#define CHECKSUMS_HEADER_BYTES 16u
#define CHECKSUMS_ENTRY_BYTES  8u
#define CHECKSUMS_FOOTER_BYTES 24u

/* The state of a writer: plain values, so that a resumed run reaches the same state by adding the
 * entries again. The first CHECKSUMS_HEADER_BYTES + records * CHECKSUMS_ENTRY_BYTES bytes of an
 * unfinished file are complete. */
struct checksums_writer {
    uint64_t records;
    uint64_t shard_bytes; /* of all records, framed */
    uint32_t shard_crc;   /* of all records, framed: of the shard so far */
    uint32_t file_crc;    /* of the bytes appended so far */
};

/* Each appends to `out`, which the caller may empty at any time. A framed record has at least
 * 8 bytes and fewer than 2^32; `crc` is crc32c(0, framed, framed_bytes). */
IMREC_NODISCARD enum imrec_status
checksums_begin(struct checksums_writer *w, struct buf *out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status checksums_add(struct checksums_writer *w, uint64_t framed_bytes,
                                                uint32_t crc, struct buf *out,
                                                struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
checksums_finish(struct checksums_writer *w, struct buf *out, struct imrec_error *err);

struct checksums { /* a whole file, checked; borrows its bytes */
    const uint8_t *entries;
    uint64_t records;
    uint64_t shard_bytes;
    uint32_t shard_crc;
    uint64_t next, offset; /* the next entry, and its record's offset in the shard */
};

struct checksum {
    uint64_t record; /* its number, from 0 */
    uint64_t offset; /* of its head in the shard */
    uint32_t framed_bytes;
    uint32_t crc; /* of these bytes */
};

/* Checks the whole file: magic, version, length, its own checksum, sums. `name` is the file's,
 * for messages. */
IMREC_NODISCARD enum imrec_status
checksums_open(const char *name, struct bytes file, struct checksums *out, struct imrec_error *err);
bool checksums_next(struct checksums *c, struct checksum *out); /* false: no more */
/* The entries of a file that checksums_open() refuses, if it has any: each may be damaged, and only
 * one that agrees with a record is evidence. False: it has none. */
bool checksums_salvage(struct bytes file, struct checksums *out);

/* The entries by the places of their records: one offset in memory for every 64 of them. Read-only
 * once made: any number of threads may use it. */
struct checksum_table {
    struct checksums file; /* borrows its bytes */
    uint64_t *begin;       /* of the records 0, 64, 128, ... in the shard */
};
/* `file` is as checksums_open() left it. */
IMREC_NODISCARD enum imrec_status checksum_table_make(const struct checksums *file,
                                                      struct checksum_table *out,
                                                      struct imrec_error *err);
/* The first entry whose record begins at `offset` or after it; false: there is none. */
bool checksum_table_at(const struct checksum_table *t, uint64_t offset, struct checksum *out);
/* The entry of record `number`, which is below file.records. */
struct checksum checksum_table_entry(const struct checksum_table *t, uint64_t number);
void checksum_table_free(struct checksum_table *t); /* zeroed memory is fine */
#endif
