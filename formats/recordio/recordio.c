/*
 * formats/recordio/recordio.c - RecordIO as bytes.
 *
 * A record is one or more parts, each on a 4-byte boundary of the shard:
 *     u32 magic | u32 lrec (3-bit flag, 29-bit length) | payload | 0..3 bytes of padding
 * little-endian. Where a payload holds the magic on such a boundary the writer cuts it there
 * and drops the magic; the reader puts it back. No lrec with a legal flag equals the magic, so
 * in a well-formed shard the aligned magic is at part heads only.
 */
#include "formats/recordio/recordio.h"

#include "base/error.h"
#include "base/math.h"
#include "formats/recordio/magic_scan.h"

#include <string.h>

#define LENGTH_BITS 29u
#define MAGIC_BYTES 4u

enum part_flag { PART_WHOLE, PART_FIRST, PART_MIDDLE, PART_LAST };

static const uint8_t magic_bytes[MAGIC_BYTES] = {0x0a, 0x23, 0xd7, 0xce};

static size_t padded(size_t length) /* length has 29 bits: no overflow */
{
    return (length + RECORDIO_ALIGN - 1) & ~(size_t)(RECORDIO_ALIGN - 1);
}

static size_t part_length(const uint8_t *head)
{
    return load_le32(head + 4) & RECORDIO_PART_MAX_BYTES;
}

static uint32_t part_flag(const uint8_t *head)
{
    return load_le32(head + 4) >> LENGTH_BITS;
}

size_t recordio_sync(const uint8_t *p, size_t n)
{
    for (size_t i = 0;;) {
        const size_t hit = i + magic_scan(p + i, n - i);
        if (n - hit < RECORDIO_PART_HEAD_BYTES)
            return n;
        if (part_flag(p + hit) <= PART_FIRST)
            return hit;
        i = hit + MAGIC_BYTES;
    }
}

/* Checks the part head at p + pos against the flags allowed there. */
static enum imrec_status
check_head(const uint8_t *p, size_t pos, uint64_t at, struct imrec_error *err)
{
    const uint32_t magic = load_le32(p + pos), flag = part_flag(p + pos);
    if (magic != RECORDIO_MAGIC)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at + pos,
                              "not a record head: expected the magic 0x%08x, found 0x%08x",
                              RECORDIO_MAGIC, magic);
    if (pos == 0 && flag > PART_FIRST)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "a record starts with part flag %u, it must be 0 or 1", flag);
    if (pos != 0 && flag != PART_MIDDLE && flag != PART_LAST)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at + pos,
                              "a record is continued with part flag %u, it must be 2 or 3", flag);
    return IMREC_OK;
}

static enum imrec_status ask_for(struct recordio_span *out, size_t bytes)
{
    *out = (struct recordio_span){.bytes = bytes};
    return IMREC_END;
}

enum imrec_status recordio_measure(const uint8_t *p, size_t n, uint64_t at,
                                   struct recordio_span *out, struct imrec_error *err)
{
    struct recordio_span span = {0};
    for (;;) {
        const size_t pos = span.bytes;
        if (n - pos < RECORDIO_PART_HEAD_BYTES)
            return ask_for(out, pos + RECORDIO_PART_HEAD_BYTES);
        IMREC_TRY(check_head(p, pos, at, err));

        const uint32_t flag = part_flag(p + pos);
        const bool last = flag == PART_WHOLE || flag == PART_LAST;
        span.size += part_length(p + pos) + (last ? 0 : MAGIC_BYTES);
        span.parts++;
        if (span.size > RECORDIO_PART_MAX_BYTES)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                                  "the parts of a record add up to %zu bytes or more, the limit "
                                  "is %u",
                                  span.size, RECORDIO_PART_MAX_BYTES);
        /* Below 2^29 bytes in parts of 8 + length: under 2^31, which every size_t holds. */
        span.bytes += RECORDIO_PART_HEAD_BYTES + padded(part_length(p + pos));
        if (span.bytes > n) /* at least one more head follows */
            return ask_for(out, span.bytes + (last ? 0 : RECORDIO_PART_HEAD_BYTES));
        if (last) {
            *out = span;
            return IMREC_OK;
        }
    }
}

size_t recordio_swallowed(const uint8_t *p, const struct recordio_span *span)
{
    size_t pos = 0;
    for (uint32_t i = 0; i < span->parts; i++) {
        const size_t payload = pos + RECORDIO_PART_HEAD_BYTES, n = padded(part_length(p + pos));
        const size_t hit = magic_scan(p + payload, n);
        if (hit < n)
            return payload + hit;
        pos = payload + n;
    }
    return span->bytes;
}

struct bytes recordio_join(uint8_t *p, const struct recordio_span *span)
{
    uint8_t *record = p + RECORDIO_PART_HEAD_BYTES;
    size_t from = 0, to = 0;
    for (uint32_t i = 0; i < span->parts; i++) { /* `to` never overtakes `from`: heads are 8 */
        const size_t length = part_length(p + from), payload = from + RECORDIO_PART_HEAD_BYTES;
        if (i > 0) {
            memcpy(record + to, magic_bytes, MAGIC_BYTES);
            to += MAGIC_BYTES;
            memmove(record + to, p + payload, length);
        }
        to += length;
        from = payload + padded(length);
    }
    return (struct bytes){record, span->size};
}

enum imrec_status recordio_copy(const uint8_t *p, const struct recordio_span *span,
                                struct buf *scratch, struct bytes *out, struct imrec_error *err)
{
    if (span->parts == 1) {
        *out = (struct bytes){p + RECORDIO_PART_HEAD_BYTES, span->size};
        return IMREC_OK;
    }
    scratch->n = 0;
    size_t from = 0;
    for (uint32_t i = 0; i < span->parts; i++) {
        const size_t length = part_length(p + from);
        if (i > 0)
            IMREC_TRY(buf_append(scratch, magic_bytes, MAGIC_BYTES, err));
        IMREC_TRY(buf_append(scratch, p + from + RECORDIO_PART_HEAD_BYTES, length, err));
        from += RECORDIO_PART_HEAD_BYTES + padded(length);
    }
    *out = (struct bytes){scratch->p, scratch->n};
    return IMREC_OK;
}

static enum imrec_status
append_part(struct buf *out, enum part_flag flag, struct bytes payload, struct imrec_error *err)
{
    static const uint8_t zeros[RECORDIO_ALIGN];
    uint8_t head[RECORDIO_PART_HEAD_BYTES];
    store_le32(head, RECORDIO_MAGIC);
    store_le32(head + 4, (uint32_t)flag << LENGTH_BITS | (uint32_t)payload.n);
    IMREC_TRY(buf_append(out, head, sizeof(head), err));
    IMREC_TRY(buf_append(out, payload.p, payload.n, err));
    return buf_append(out, zeros, padded(payload.n) - payload.n, err);
}

static enum imrec_status append_parts(struct bytes record, struct buf *out, struct imrec_error *err)
{
    size_t done = 0, hit;
    while ((hit = done + magic_scan(record.p + done, record.n - done)) < record.n) {
        IMREC_TRY(append_part(out, done == 0 ? PART_FIRST : PART_MIDDLE,
                              (struct bytes){record.p + done, hit - done}, err));
        done = hit + MAGIC_BYTES;
    }
    return append_part(out, done == 0 ? PART_WHOLE : PART_LAST,
                       (struct bytes){record.p + done, record.n - done}, err);
}

uint64_t recordio_framed_bytes(struct bytes record)
{
    uint64_t bytes = RECORDIO_PART_HEAD_BYTES + (uint64_t)record.n;
    size_t done = 0, hit;
    while ((hit = done + magic_scan(record.p + done, record.n - done)) < record.n) {
        bytes += RECORDIO_PART_HEAD_BYTES - MAGIC_BYTES; /* which is in the head */
        done = hit + MAGIC_BYTES;
    }
    return align_up(bytes, RECORDIO_ALIGN);
}

enum imrec_status recordio_frame(struct bytes record, struct buf *out, struct imrec_error *err)
{
    if (record.n > RECORDIO_PART_MAX_BYTES)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "a record of %zu bytes does not fit RecordIO, the limit is %u", record.n,
                          RECORDIO_PART_MAX_BYTES);
    const size_t before = out->n;
    const enum imrec_status st = append_parts(record, out, err);
    if (st != IMREC_OK)
        out->n = before; /* no half record remains */
    return st;
}
