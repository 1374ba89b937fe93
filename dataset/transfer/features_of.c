/* dataset/transfer/features_of.c */
#include "dataset/transfer/features_of.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/example_record.h"
#include "dataset/transfer/feature_list.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MOST ((size_t)1 << 32)

struct feature_entry {
    struct bytes name, bytes;
    uint64_t place;
    bool replaced; /* by a later one of its name */
};

void features_of_init(struct features_of *f, const char *image, const char *label)
{
    const bool none = label != NULL && strcmp(label, "none") == 0;
    *f = (struct features_of){.text = BUF_INIT(TEXT_MOST)};
    f->image = image != NULL && image[0] != '\0' ? image : EXAMPLE_IMAGE;
    f->label = none ? NULL : label != NULL && label[0] != '\0' ? label : EXAMPLE_LABEL;
}

void features_of_free(struct features_of *f)
{
    buf_free(&f->text);
    IMREC_FREE(f->fields, f->entries);
    *f = (struct features_of){0};
}

/* ---- entries ------------------------------------------------------------------------------ */

static int compare(struct bytes a, struct bytes b)
{
    const size_t n = a.n < b.n ? a.n : b.n;
    const int order = n != 0 ? memcmp(a.p, b.p, n) : 0;
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static int by_place(const void *a, const void *b)
{
    const struct feature_entry *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_name(const void *a, const void *b)
{
    const struct feature_entry *x = a, *y = b;
    const int order = compare(x->name, y->name);
    return order != 0 ? order : by_place(a, b);
}

static enum imrec_status
find_entries(struct features_of *f, struct bytes example, uint64_t *count, struct imrec_error *err)
{
    struct example_cursor c;
    struct example_entry e;
    enum imrec_status st;
    uint64_t n = 0;
    example_begin(&c, example);
    for (; (st = example_next(&c, &e, err)) == IMREC_OK; n++) {
        if (!IMREC_GROW(f->entries, f->entry_room, n + 1))
            return IMREC_NO_MEMORY(err, "no memory for the features of an Example");
        f->entries[n] = (struct feature_entry){e.name, e.bytes, n, false};
    }
    *count = n;
    if (st != IMREC_END || n == 0)
        return st == IMREC_END ? IMREC_OK : st;
    qsort(f->entries, (size_t)n, sizeof(*f->entries), by_name);
    for (uint64_t i = 0; i + 1 < n; i++)
        f->entries[i].replaced = compare(f->entries[i].name, f->entries[i + 1].name) == 0;
    qsort(f->entries, (size_t)n, sizeof(*f->entries), by_place);
    return IMREC_OK;
}

/* ---- fields ------------------------------------------------------------------------------- */

static struct bytes name_of(const struct imrec_field *f)
{
    return (struct bytes){(const uint8_t *)f->name, f->name_bytes};
}

/* The first of a record's fields, sorted by name, that is not before it. */
static uint32_t find_field(const struct imrec_record *r, struct bytes name)
{
    uint32_t low = 0, high = r->field_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare(name_of(&r->fields[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_fields(struct features_of *f, const struct imrec_record *r, struct bytes name)
{
    for (uint32_t i = find_field(r, name);
         i < r->field_count && compare(name_of(&r->fields[i]), name) == 0; i++)
        f->fields[f->field_count++] = r->fields[i];
}

static bool is(struct bytes name, const char *text)
{
    return name.n == strlen(text) && memcmp(name.p, text, name.n) == 0;
}

static enum imrec_status describe(struct features_of *f, const struct imrec_record *r,
                                  const struct feature_entry *e, struct imrec_error *err)
{
    struct example_feature of;
    IMREC_TRY(example_look(e->bytes, &of, err));
    struct feature_word w = {.type = of.type, .count = of.count, .name = e->name};
    if (is(e->name, f->image))
        w.role = FEATURE_IMAGE;
    else if (f->label != NULL && is(e->name, f->label))
        w.role = FEATURE_LABEL;
    else if (is(e->name, EXAMPLE_MASK))
        w.role = FEATURE_MASK;
    else
        take_fields(f, r, e->name);
    return feature_list_add(&f->text, &w, err);
}

enum imrec_status
features_of_record(struct features_of *f, const struct imrec_record *r, struct imrec_error *err)
{
    uint64_t count = 0;
    f->text.n = f->field_count = 0;
    if (!IMREC_GROW(f->fields, f->field_room, (uint64_t)r->field_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the features of an Example");
    IMREC_TRY(find_entries(f, (struct bytes){r->data, r->size}, &count, err));
    for (uint64_t i = 0; i < count; i++)
        if (!f->entries[i].replaced)
            IMREC_TRY(describe(f, r, &f->entries[i], err));
    return IMREC_OK;
}
