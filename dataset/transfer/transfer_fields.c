/* dataset/transfer/transfer_fields.c - fields that say what the header of a record has. */
#include "dataset/transfer/transfer_out.h"

uint64_t transfer_number_in(const struct imrec_record *r, const char *name, uint64_t usual)
{
    for (uint32_t i = 0; i < r->field_count; i++)
        if (r->fields[i].kind == IMREC_FIELD_INT64 && r->fields[i].size == sizeof(uint64_t) &&
            transfer_is_called(&r->fields[i], name))
            return load_le64(r->fields[i].bytes);
    return usual;
}

bool transfer_is_known(const struct imrec_record *r, const struct imrec_field *f)
{
    return transfer_is_called(f, EXAMPLE_ID) || transfer_is_called(f, EXAMPLE_ID2) ||
           transfer_is_called(f, EXAMPLE_FORMAT) ||
           (r->mask != NULL && transfer_is_called(f, "mask"));
}
