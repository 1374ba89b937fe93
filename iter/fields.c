/* iter/fields.c */
#include "iter/fields.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"

#include <stdio.h>
#include <string.h>

/* ---- memory -------------------------------------------------------------------------------- */

static enum imrec_status allocate(struct batch_fields *f, struct imrec_error *err)
{
    const size_t columns = (size_t)f->depth * f->names.count;
    bool all = true;
    f->values = imrec_zalloc(columns * f->batch_size, sizeof(*f->values));
    f->columns = imrec_zalloc(columns, sizeof(*f->columns));
    f->shown = imrec_zalloc(columns, sizeof(*f->shown));
    for (size_t i = 0; f->columns != NULL && i < columns; i++) {
        struct field_column *c = &f->columns[i];
        c->offsets = imrec_zalloc((size_t)f->batch_size + 1, sizeof(*c->offsets));
        c->kinds = imrec_zalloc(f->batch_size, 1);
        all = all && c->offsets != NULL && c->kinds != NULL;
    }
    if (all && f->values != NULL && f->columns != NULL && f->shown != NULL)
        return IMREC_OK;
    return IMREC_NO_MEMORY(err, "no memory for the fields of %u samples", f->batch_size);
}

enum imrec_status batch_fields_init(struct batch_fields *f, const struct imrec_iter_options *o,
                                    struct imrec_error *err)
{
    *f = (struct batch_fields){.depth = (uint32_t)o->prefetch_buffer + 1,
                               .batch_size = (uint32_t)o->batch_size,
                               .most = (size_t)o->max_field_bytes};
    IMREC_TRY(field_names_parse("fields", o->fields, &f->names, err));
    return f->names.count != 0 ? allocate(f, err) : IMREC_OK;
}

void batch_fields_free(struct batch_fields *f)
{
    const size_t columns = (size_t)f->depth * f->names.count;
    for (size_t i = 0; f->values != NULL && i < columns * f->batch_size; i++)
        imrec_free(f->values[i].p);
    for (size_t i = 0; f->columns != NULL && i < columns; i++)
        IMREC_FREE(f->columns[i].bytes, f->columns[i].offsets, f->columns[i].kinds);
    IMREC_FREE(f->values, f->columns, f->shown);
    field_names_free(&f->names);
    *f = (struct batch_fields){0};
}

uint64_t batch_fields_memory(const struct batch_fields *f)
{
    const uint64_t slots = (uint64_t)f->depth * f->batch_size * f->names.count; /* below 2^33 */
    const uint64_t each = sizeof(struct field_value) + sizeof(uint64_t) + 1 + 2 * (uint64_t)f->most;
    return slots != 0 && each > (UINT64_MAX >> 1) / slots ? UINT64_MAX >> 1 : slots * each;
}

/* ---- a slot -------------------------------------------------------------------------------- */

static struct field_value *values_of(const struct batch_fields *f, uint32_t cell, uint32_t slot)
{
    return f->values + ((size_t)cell * f->batch_size + slot) * f->names.count;
}

const struct record_field *batch_field_find(const struct record *r, const char *name)
{
    const size_t n = strlen(name);
    for (uint32_t i = 0; i < r->field_count; i++)
        if (r->fields[i].name.n == n && memcmp(r->fields[i].name.p, name, n) == 0)
            return &r->fields[i];
    return NULL;
}

/* "txt, json": as many of the record's names as there is room for. */
static void list_names(const struct record *r, char *out, size_t room)
{
    size_t n = 0;
    (void)snprintf(out, room, "none");
    for (uint32_t i = 0; i < r->field_count && n < room - 1; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%.*s", i != 0 ? ", " : "",
                              (int)(r->fields[i].name.n < 60 ? r->fields[i].name.n : 60),
                              (const char *)r->fields[i].name.p);
}

enum imrec_status batch_field_missing(const struct record *r, const char *option, const char *name,
                                      struct imrec_error *err)
{
    char has[200];
    list_names(r, has, sizeof(has));
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the sample has no field '%.60s', it has %s (%s%.60s? lets it be missing)",
                      name, has, option, name);
}

static enum imrec_status put(struct batch_fields *f, struct field_value *v, const char *name,
                             const struct record_field *from, struct imrec_error *err)
{
    const struct bytes b = from->value;
    if (b.n > f->most)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "its field '%.60s' has %zu bytes, max_field_bytes is %zu", name, b.n,
                          f->most);
    if (b.n > v->room) {
        imrec_free(v->p);
        v->p = imrec_realloc(NULL, b.n, 1);
        v->room = v->p != NULL ? b.n : 0;
        if (v->p == NULL)
            return IMREC_NO_MEMORY(err, "no memory for a field of %zu bytes", b.n);
    }
    if (b.n != 0)
        memcpy(v->p, b.p, b.n);
    v->n = b.n;
    v->kind = IMREC_FIELD_BYTES + from->type;
    return IMREC_OK;
}

enum imrec_status batch_fields_take(struct batch_fields *f, uint32_t cell, uint32_t slot,
                                    const struct record *r, struct imrec_error *err)
{
    if (f->names.count == 0)
        return IMREC_OK;
    struct field_value *v = values_of(f, cell, slot);
    batch_fields_clear(f, cell, slot);
    for (uint32_t i = 0; i < f->names.count; i++) {
        const struct record_field *from = batch_field_find(r, f->names.name[i]);
        if (from != NULL)
            IMREC_TRY(put(f, &v[i], f->names.name[i], from, err));
        else if (!f->names.optional[i])
            return batch_field_missing(r, "fields=", f->names.name[i], err);
    }
    return IMREC_OK;
}

void batch_fields_clear(struct batch_fields *f, uint32_t cell, uint32_t slot)
{
    if (f->names.count == 0)
        return;
    struct field_value *v = values_of(f, cell, slot);
    for (uint32_t i = 0; i < f->names.count; i++) {
        v[i].n = 0;
        v[i].kind = IMREC_FIELD_NONE;
    }
}

/* ---- a batch ------------------------------------------------------------------------------- */

void batch_fields_begin(struct batch_fields *f, uint32_t cell)
{
    for (uint32_t slot = 0; f->names.count != 0 && slot < f->batch_size; slot++)
        batch_fields_clear(f, cell, slot);
}

static enum imrec_status
join_column(struct batch_fields *f, uint32_t cell, uint32_t i, struct imrec_error *err)
{
    struct field_column *c = &f->columns[(size_t)cell * f->names.count + i];
    size_t bytes = 0;
    for (uint32_t slot = 0; slot < f->batch_size; slot++) {
        const struct field_value *v = values_of(f, cell, slot) + i;
        c->offsets[slot] = bytes;
        c->kinds[slot] = (uint8_t)v->kind;
        bytes += v->n; /* they are in memory */
    }
    c->offsets[f->batch_size] = bytes;
    if (bytes > c->room) {
        imrec_free(c->bytes);
        c->bytes = imrec_realloc(NULL, bytes, 1);
        c->room = c->bytes != NULL ? bytes : 0;
        if (c->bytes == NULL)
            return IMREC_NO_MEMORY(err, "no memory for the %zu bytes of a field", bytes);
    }
    for (uint32_t slot = 0; slot < f->batch_size; slot++) {
        const struct field_value *v = values_of(f, cell, slot) + i;
        if (v->n != 0)
            memcpy(c->bytes + c->offsets[slot], v->p, v->n);
    }
    return IMREC_OK;
}

enum imrec_status batch_fields_join(struct batch_fields *f, uint32_t cell, struct imrec_error *err)
{
    for (uint32_t i = 0; i < f->names.count; i++)
        IMREC_TRY(join_column(f, cell, i, err));
    return IMREC_OK;
}

const struct imrec_batch_field *batch_fields_show(struct batch_fields *f, uint32_t cell)
{
    if (f->names.count == 0)
        return NULL;
    const size_t first = (size_t)cell * f->names.count;
    for (uint32_t i = 0; i < f->names.count; i++) {
        const struct field_column *c = &f->columns[first + i];
        f->shown[first + i] = (struct imrec_batch_field){
            .name = f->names.name[i], .bytes = c->bytes, .offsets = c->offsets, .kinds = c->kinds};
    }
    return f->shown + first;
}
