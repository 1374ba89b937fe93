/* dataset/given_fields.c */
#include "dataset/given_fields.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/recordio/record_fields.h"
#include "formats/recordio/record_mask.h"

#include <string.h>

enum imrec_status given_fields_put(struct given_fields *g, uint32_t i, const struct record_field *f,
                                   struct imrec_error *err)
{
    if (!IMREC_GROW(g->fields, g->room, (uint64_t)i + 1))
        return IMREC_NO_MEMORY(err, "no memory for the fields of a record");
    g->fields[i] = (struct imrec_field){.name = (const char *)f->name.p,
                                        .name_bytes = f->name.n,
                                        .bytes = f->value.p,
                                        .size = f->value.n,
                                        .kind = IMREC_FIELD_BYTES + f->type};
    return IMREC_OK;
}

void given_fields_free(struct given_fields *g)
{
    imrec_free(g->fields);
    *g = (struct given_fields){0};
}

static bool take(const struct imrec_field *f, struct record_field *out)
{
    static const size_t wide[] = {[IMREC_FIELD_BYTES] = 1,
                                  [IMREC_FIELD_INT64] = sizeof(int64_t),
                                  [IMREC_FIELD_FLOAT32] = sizeof(float)};
    if (f->kind <= IMREC_FIELD_NONE || f->kind > IMREC_FIELD_FLOAT32 ||
        f->size % wide[f->kind] != 0)
        return false;
    *out = (struct record_field){{(const uint8_t *)f->name, f->name_bytes},
                                 {f->bytes, f->size},
                                 (enum field_type)(f->kind - IMREC_FIELD_BYTES)};
    return true;
}

/* Those of the caller, and a mask after them, if mask.p is not NULL. */
static enum imrec_status append(struct buf *record, const struct imrec_field *fields, uint32_t n,
                                struct bytes mask, struct imrec_error *err)
{
    static const char name[] = RECORD_FIELD_MASK;
    struct record_field *all = imrec_zalloc((size_t)n + 1, sizeof(*all));
    enum imrec_status st = IMREC_OK;
    if (all == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u fields", n);
    for (uint32_t i = 0; st == IMREC_OK && i < n; i++)
        if (!take(&fields[i], &all[i]))
            st = IMREC_REFUSE(err, "field %u, of kind %d, has %zu bytes: it is none", i,
                              (int)fields[i].kind, fields[i].size);
    if (mask.p != NULL)
        all[n] =
            (struct record_field){{(const uint8_t *)name, sizeof(name) - 1}, mask, FIELD_BYTES};
    if (st == IMREC_OK)
        st = record_fields_append(record, all, n + (mask.p != NULL), err);
    imrec_free(all);
    return st;
}

enum imrec_status given_fields_append(struct buf *record, const struct imrec_field *fields,
                                      uint32_t n, struct imrec_error *err)
{
    return append(record, fields, n, (struct bytes){NULL, 0}, err);
}

enum imrec_status given_mask_append(struct buf *record, struct bytes mask, struct imrec_error *err)
{
    uint8_t trailer[RECORD_MASK_TRAILER_BYTES];
    if (mask.n == 0 || mask.n > UINT32_MAX)
        return IMREC_REFUSE(err, "a mask has 1 to 2^32 - 1 bytes, not %zu", mask.n);
    record_mask_trailer(mask, trailer);
    IMREC_TRY(buf_append(record, mask.p, mask.n, err));
    return buf_append(record, trailer, sizeof(trailer), err);
}

enum imrec_status
given_rest_append(struct buf *record, const struct imrec_record *r, struct imrec_error *err)
{
    const struct bytes mask = {r->mask, r->mask_size};
    bool listed = false;
    for (uint32_t i = 0; i < r->field_count; i++)
        listed |= r->fields[i].bytes == r->mask; /* by whatever name: a tar's is mask.png */
    if (r->field_count != 0)
        return append(record, r->fields, r->field_count, listed ? (struct bytes){NULL, 0} : mask,
                      err);
    return mask.p != NULL ? given_mask_append(record, mask, err) : IMREC_OK;
}
