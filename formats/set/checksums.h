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

/* What a writer knows: plain values, so that a run that goes on after an interruption comes to
 * the same by adding the entries again. The first CHECKSUMS_HEADER_BYTES + records *
 * CHECKSUMS_ENTRY_BYTES bytes of an unfinished file are whole. */
struct checksums_writer {
    uint64_t records;
    uint64_t shard_bytes; /* of all records, framed */
    uint32_t shard_crc;   /* of all records, framed: of the shard so far */
    uint32_t file_crc;    /* of what was appended so far */
};

/* Each appends to `out`, which the caller empties when it likes. A framed record has at least
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
    uint64_t next, offset; /* the entry that comes, and its record's offset in the shard */
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
/* The entries of a file that checksums_open() refuses, as far as it has some: any of them may be
 * damaged, and only what agrees with a record says anything. False: it has none. */
bool checksums_salvage(struct bytes file, struct checksums *out);

/* The entries by the places of their records: one offset in memory for every 64 of them. Read only
 * once it is made: any number of threads. */
struct checksum_table {
    struct checksums file; /* borrows its bytes */
    uint64_t *begin;       /* of the records 0, 64, 128, ... in the shard */
};
/* `file` is as checksums_open() has left it. */
IMREC_NODISCARD enum imrec_status checksum_table_make(const struct checksums *file,
                                                      struct checksum_table *out,
                                                      struct imrec_error *err);
/* The first entry whose record begins at `offset` or behind it; false: there is none. */
bool checksum_table_at(const struct checksum_table *t, uint64_t offset, struct checksum *out);
/* The entry of record `number`, which is below file.records. */
struct checksum checksum_table_entry(const struct checksum_table *t, uint64_t number);
void checksum_table_free(struct checksum_table *t); /* zeroed memory is fine */
#endif
