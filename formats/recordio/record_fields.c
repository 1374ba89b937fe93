/* formats/recordio/record_fields.c */
#include "formats/recordio/record_fields.h"

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/recordio/record_mask.h"

#include <string.h>

enum { COUNT_AT = 0, BYTES_AT = 4, CRC_AT = 8, MAGIC_AT = 12, MAGIC_BYTES = 8 };
/* As the magic of a mask (record_mask.c). */
static const uint8_t magic[MAGIC_BYTES] = {0x8b, 'f', 'l', 'd', 's', '1', '\r', '\n'};

/* ---- reading ------------------------------------------------------------------------------- */

/* The field at the begin of *rest, if all of it is there. */
static bool take_field(struct bytes *rest, struct record_field *out)
{
    if (rest->n < RECORD_FIELD_HEAD_BYTES || rest->p[0] >= FIELD_TYPES || rest->p[1] != 0)
        return false;
    const size_t name = (size_t)rest->p[2] | (size_t)rest->p[3] << 8,
                 value = load_le32(rest->p + 4);
    const size_t left = rest->n - RECORD_FIELD_HEAD_BYTES;
    if (name == 0 || name > left || value > left - name)
        return false;
    const uint8_t *p = rest->p + RECORD_FIELD_HEAD_BYTES;
    *out = (struct record_field){{p, name}, {p + name, value}, (enum field_type)rest->p[0]};
    rest->p = p + name + value;
    rest->n = left - name - value;
    return true;
}

bool record_fields_next(struct bytes *fields, struct record_field *out)
{
    return take_field(fields, out);
}

static bool is_mask(const struct record_field *f)
{
    return f->name.n == sizeof(RECORD_FIELD_MASK) - 1 &&
           memcmp(f->name.p, RECORD_FIELD_MASK, f->name.n) == 0 && f->type == FIELD_BYTES;
}

/* All of each field must be there, and nothing else: they are not looked at again. */
static enum imrec_status check_fields(struct record_payload *out, struct imrec_error *err)
{
    struct bytes rest = out->fields;
    struct record_field f;
    uint32_t seen = 0;
    for (; take_field(&rest, &f); seen++)
        if (is_mask(&f) && out->mask.p == NULL)
            out->mask = f.value;
    if (rest.n == 0 && seen == out->field_count)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the trailer says that there are %u fields in %zu bytes: field %u is none",
                      out->field_count, out->fields.n, seen);
}

static enum imrec_status
split_fields(struct bytes payload, struct record_payload *out, struct imrec_error *err)
{
    const size_t before = payload.n - RECORD_FIELDS_TRAILER_BYTES;
    const uint8_t *trailer = payload.p + before;
    const uint32_t n = load_le32(trailer + BYTES_AT);
    if (n > before)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the trailer says that the fields have %u bytes; %zu are before it", n,
                          before);
    const uint32_t crc = crc32c(0, trailer - n, (size_t)n + CRC_AT);
    if (crc != load_le32(trailer + CRC_AT))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the %u bytes of the fields have the CRC-32C %08x, their trailer says "
                          "%08x",
                          n, crc, load_le32(trailer + CRC_AT));
    out->fields = (struct bytes){trailer - n, n};
    out->field_count = load_le32(trailer + COUNT_AT);
    IMREC_TRY(check_fields(out, err));
    out->image.n = before - n;
    return IMREC_OK;
}

enum imrec_status
record_payload_split(struct bytes payload, struct record_payload *out, struct imrec_error *err)
{
    *out = (struct record_payload){.image = payload};
    if (payload.n < RECORD_FIELDS_TRAILER_BYTES ||
        memcmp(payload.p + payload.n - MAGIC_BYTES, magic, MAGIC_BYTES) != 0)
        return record_mask_split(payload, &out->image, &out->mask, err);
    const enum imrec_status st = split_fields(payload, out, err);
    if (st != IMREC_OK)
        *out = (struct record_payload){.image = payload};
    return st;
}

/* ---- writing ------------------------------------------------------------------------------- */

uint64_t record_fields_bytes(const struct record_field *f, uint32_t n)
{
    uint64_t bytes = 0;
    if (n > RECORD_FIELDS_MOST)
        return UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (f[i].name.n == 0 || f[i].name.n > UINT16_MAX || f[i].value.n > UINT32_MAX)
            return UINT64_MAX;
        bytes += RECORD_FIELD_HEAD_BYTES + f[i].name.n + f[i].value.n; /* below 2^49 */
    }
    return bytes > UINT32_MAX ? UINT64_MAX : bytes + RECORD_FIELDS_TRAILER_BYTES;
}

static enum imrec_status
append_field(struct buf *out, const struct record_field *f, struct imrec_error *err)
{
    const uint16_t name = (uint16_t)f->name.n;
    uint8_t head[RECORD_FIELD_HEAD_BYTES] = {(uint8_t)f->type, 0, (uint8_t)(name & 255u),
                                             (uint8_t)(name >> 8)};
    store_le32(head + 4, (uint32_t)f->value.n);
    IMREC_TRY(buf_append(out, head, sizeof(head), err));
    IMREC_TRY(buf_append(out, f->name.p, f->name.n, err));
    return buf_append(out, f->value.p, f->value.n, err);
}

enum imrec_status record_fields_append(struct buf *out, const struct record_field *f, uint32_t n,
                                       struct imrec_error *err)
{
    const size_t begin = out->n;
    uint8_t trailer[RECORD_FIELDS_TRAILER_BYTES];
    if (record_fields_bytes(f, n) == UINT64_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "a record has at most %u fields, names of 1 to 65535 bytes, and 4 GiB",
                          RECORD_FIELDS_MOST);
    for (uint32_t i = 0; i < n; i++)
        IMREC_TRY(append_field(out, &f[i], err));
    const size_t bytes = out->n - begin;
    store_le32(trailer + COUNT_AT, n);
    store_le32(trailer + BYTES_AT, (uint32_t)bytes);
    store_le32(trailer + CRC_AT, crc32c(crc32c(0, out->p + begin, bytes), trailer, CRC_AT));
    memcpy(trailer + MAGIC_AT, magic, MAGIC_BYTES);
    return buf_append(out, trailer, sizeof(trailer), err);
}
