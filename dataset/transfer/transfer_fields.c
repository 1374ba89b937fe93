/* dataset/transfer/transfer_fields.c - fields that say what the header of a record has. */
#include "dataset/transfer/transfer_out.h"

void transfer_take_number(const struct imrec_record *r, const char *name, uint64_t *to)
{
    for (uint32_t i = 0; i < r->field_count; i++)
        if (r->fields[i].kind == IMREC_FIELD_INT64 && r->fields[i].size == sizeof(uint64_t) &&
            transfer_is_called(&r->fields[i], name))
            *to = load_le64(r->fields[i].bytes);
}

struct bytes transfer_text_in(const struct imrec_record *r, const char *name)
{
    static const uint8_t empty;
    for (uint32_t i = 0; i < r->field_count; i++)
        if (r->fields[i].kind == IMREC_FIELD_BYTES && transfer_is_called(&r->fields[i], name))
            return (struct bytes){r->fields[i].size != 0 ? r->fields[i].bytes : &empty,
                                  r->fields[i].size};
    return (struct bytes){NULL, 0};
}

bool transfer_is_mask(const struct imrec_record *r, const struct imrec_field *f)
{
    return r->mask != NULL && f->bytes == r->mask && f->size == r->mask_size;
}
