/* dataset/given_fields.c */
#include "dataset/given_fields.h"

#include "base/alloc.h"
#include "base/error.h"

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

bool given_field_take(const struct imrec_field *f, struct record_field *out)
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
