/*
 * formats/set/checksums.c - .crc, the file next to a shard with the checksums of its records.
 *
 *     "IMRECCRC" | u32 version 1 | u32 0                            header
 *     u32 framed bytes | u32 CRC-32C of them                        every record, in order
 *     u64 records | u64 shard bytes | u32 shard's CRC | u32 CRC of all before it      footer
 * little-endian. No byte depends on later ones, so it streams and can be cut.
 */
#include "formats/set/checksums.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/crc32c.h"
#include "formats/recordio/recordio.h"

#include <inttypes.h>
#include <string.h>

#define VERSION    1u
#define TABLE_STEP 64u /* entries that share an offset in memory */

static const uint8_t magic[8] = {'I', 'M', 'R', 'E', 'C', 'C', 'R', 'C'};

static enum imrec_status append(struct checksums_writer *w, const uint8_t *p, size_t n,
                                struct buf *out, struct imrec_error *err)
{
    IMREC_TRY(buf_append(out, p, n, err));
    w->file_crc = crc32c(w->file_crc, p, n);
    return IMREC_OK;
}

enum imrec_status
checksums_begin(struct checksums_writer *w, struct buf *out, struct imrec_error *err)
{
    uint8_t header[CHECKSUMS_HEADER_BYTES] = {0};
    memcpy(header, magic, sizeof(magic));
    store_le32(header + 8, VERSION);
    *w = (struct checksums_writer){0};
    return append(w, header, sizeof(header), out, err);
}

enum imrec_status checksums_add(struct checksums_writer *w, uint64_t framed_bytes, uint32_t crc,
                                struct buf *out, struct imrec_error *err)
{
    uint8_t entry[CHECKSUMS_ENTRY_BYTES];
    if (framed_bytes < RECORDIO_PART_HEAD_BYTES || framed_bytes > UINT32_MAX)
        return IMREC_REFUSE(err, "a framed record has 8 to %u bytes, not %" PRIu64, UINT32_MAX,
                            framed_bytes);
    store_le32(entry, (uint32_t)framed_bytes);
    store_le32(entry + 4, crc);
    IMREC_TRY(append(w, entry, sizeof(entry), out, err));
    w->records++;
    w->shard_bytes += framed_bytes;
    w->shard_crc = crc32c_join(w->shard_crc, crc, framed_bytes);
    return IMREC_OK;
}

enum imrec_status
checksums_finish(struct checksums_writer *w, struct buf *out, struct imrec_error *err)
{
    uint8_t footer[CHECKSUMS_FOOTER_BYTES];
    store_le64(footer, w->records);
    store_le64(footer + 8, w->shard_bytes);
    store_le32(footer + 16, w->shard_crc);
    store_le32(footer + 20, crc32c(w->file_crc, footer, sizeof(footer) - 4));
    return append(w, footer, sizeof(footer), out, err);
}

static enum imrec_status check_frame(const char *name, struct bytes file, struct imrec_error *err)
{
    const size_t least = CHECKSUMS_HEADER_BYTES + CHECKSUMS_FOOTER_BYTES;
    if (file.n < CHECKSUMS_HEADER_BYTES || memcmp(file.p, magic, sizeof(magic)) != 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0,
                              "%s: not a file of record checksums: it does not begin with IMRECCRC",
                              name);
    if (load_le32(file.p + 8) != VERSION || load_le32(file.p + 12) != 0)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 8,
                              "%s: version %u.%u of record checksums, this reader knows 1.0", name,
                              load_le32(file.p + 8), load_le32(file.p + 12));
    if (file.n < least || (file.n - least) % CHECKSUMS_ENTRY_BYTES != 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, file.n,
                              "%s: %zu bytes are not %u plus a multiple of %u: it is cut short",
                              name, file.n, (unsigned)least, CHECKSUMS_ENTRY_BYTES);
    const uint32_t found = load_le32(file.p + file.n - 4), is = crc32c(0, file.p, file.n - 4);
    if (found != is)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, file.n - 4,
                              "%s: the file's own checksum is 0x%08x, its bytes have 0x%08x", name,
                              found, is);
    return IMREC_OK;
}

enum imrec_status
checksums_open(const char *name, struct bytes file, struct checksums *out, struct imrec_error *err)
{
    IMREC_TRY(check_frame(name, file, err));
    const uint8_t *footer = file.p + file.n - CHECKSUMS_FOOTER_BYTES;
    const uint64_t records =
        (file.n - CHECKSUMS_HEADER_BYTES - CHECKSUMS_FOOTER_BYTES) / CHECKSUMS_ENTRY_BYTES;
    uint64_t bytes = 0; /* no overflow: under 2^61 entries of 32 bits */
    *out = (struct checksums){.entries = file.p + CHECKSUMS_HEADER_BYTES,
                              .records = records,
                              .shard_bytes = load_le64(footer + 8),
                              .shard_crc = load_le32(footer + 16)};
    for (uint64_t i = 0; i < records; i++)
        bytes += load_le32(out->entries + i * CHECKSUMS_ENTRY_BYTES);
    if (load_le64(footer) != records || out->shard_bytes != bytes)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, file.n - CHECKSUMS_FOOTER_BYTES,
                              "%s: the footer says %" PRIu64 " records of %" PRIu64
                              " bytes, the entries %" PRIu64 " of %" PRIu64,
                              name, load_le64(footer), out->shard_bytes, records, bytes);
    return IMREC_OK;
}

bool checksums_next(struct checksums *c, struct checksum *out)
{
    if (c->next == c->records)
        return false;
    const uint8_t *entry = c->entries + c->next * CHECKSUMS_ENTRY_BYTES;
    *out = (struct checksum){c->next, c->offset, load_le32(entry), load_le32(entry + 4)};
    c->next++;
    c->offset += out->framed_bytes;
    return true;
}

bool checksums_salvage(struct bytes file, struct checksums *out)
{
    if (file.n < CHECKSUMS_HEADER_BYTES + CHECKSUMS_ENTRY_BYTES ||
        memcmp(file.p, magic, sizeof(magic)) != 0 || load_le32(file.p + 8) != VERSION)
        return false;
    const size_t body = file.n - CHECKSUMS_HEADER_BYTES; /* the footer has the size of 3 entries */
    *out = (struct checksums){.entries = file.p + CHECKSUMS_HEADER_BYTES,
                              .records = body / CHECKSUMS_ENTRY_BYTES};
    return true;
}

/* ---- by place --------------------------------------------------------------------------- */

enum imrec_status checksum_table_make(const struct checksums *file, struct checksum_table *out,
                                      struct imrec_error *err)
{
    struct checksum sum;
    *out = (struct checksum_table){.file = *file};
    out->begin = imrec_zalloc((size_t)(file->records / TABLE_STEP) + 1, sizeof(*out->begin));
    if (out->begin == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the places of %" PRIu64 " checksums",
                               file->records);
    out->file.next = out->file.offset = 0;
    for (struct checksums c = out->file; checksums_next(&c, &sum);)
        if (sum.record % TABLE_STEP == 0)
            out->begin[sum.record / TABLE_STEP] = sum.offset;
    return IMREC_OK;
}

/* A cursor before the entries of step k. */
static struct checksums step_of(const struct checksum_table *t, uint64_t k)
{
    struct checksums c = t->file;
    c.next = k * TABLE_STEP;
    c.offset = t->begin[k];
    return c;
}

bool checksum_table_at(const struct checksum_table *t, uint64_t offset, struct checksum *out)
{
    const uint64_t steps = ceil_div(t->file.records, TABLE_STEP);
    const uint64_t after = first_at_least(t->begin, sizeof(*t->begin), 0, steps, offset + 1);
    if (steps == 0)
        return false;
    for (struct checksums c = step_of(t, after > 0 ? after - 1 : 0); checksums_next(&c, out);)
        if (out->offset >= offset)
            return true;
    return false;
}

struct checksum checksum_table_entry(const struct checksum_table *t, uint64_t number)
{
    struct checksum sum = {0};
    struct checksums c = step_of(t, number / TABLE_STEP);
    while (checksums_next(&c, &sum) && sum.record != number)
        ;
    return sum;
}

void checksum_table_free(struct checksum_table *t)
{
    imrec_free(t->begin);
    *t = (struct checksum_table){0};
}
