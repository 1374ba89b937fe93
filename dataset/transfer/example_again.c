/* dataset/transfer/example_again.c */
#include "dataset/transfer/example_again.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/example_record.h"
#include "dataset/transfer/feature_list.h"
#include "dataset/transfer/file_name.h"
#include "dataset/transfer/sample_files.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/text.h"

#include <inttypes.h>

struct again {
    struct example_parts *x;
    const struct imrec_record *r;
    bool of_files; /* fields are files of a tar's sample: names are extensions, numbers text */
    bool image, mask, label; /* are written */
    uint32_t next;           /* field that is looked at first: mostly it is the one */
    uint64_t value_count;
};

static enum imrec_status
fail(const struct again *a, const char *what, struct bytes name, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_DATA, a->r->offset,
                          "%.200s: the record at byte %" PRIu64 " %s: %s", a->r->uri, a->r->offset,
                          what, text_quote(name).s);
}

/* ---- finding a field ---------------------------------------------------------------------- */

static const struct imrec_field *find_called(struct again *a, struct bytes name)
{
    const uint32_t n = a->r->field_count;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = a->next + k < n ? a->next + k : a->next + k - n;
        const struct imrec_field *f = &a->r->fields[i];
        if (a->x->used[i] || f->name_bytes != name.n || memcmp(f->name, name.p, name.n) != 0)
            continue;
        a->x->used[i] = true;
        a->next = i + 1 < n ? i + 1 : 0;
        return f;
    }
    return NULL;
}

/* Value `i` of a name, from 0. */
static enum imrec_status find_field(struct again *a, struct bytes name, uint64_t i,
                                    const struct imrec_field **out, struct imrec_error *err)
{
    struct buf *file = &a->x->extension;
    *out = a->of_files ? NULL : find_called(a, name);
    if (*out == NULL) {
        IMREC_TRY(extension_write(file, name, i, err));
        *out = find_called(a, (struct bytes){file->p, file->n});
    }
    if (*out == NULL && a->of_files)
        *out = find_called(a, name);
    return *out != NULL ? IMREC_OK
                        : fail(a, "lacks a field that its " SAMPLE_FEATURES " names", name, err);
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* Numbers of a text into item->ints or item->floats. */
static bool read_numbers(struct example_parts *x, struct bytes left, struct example_item *item)
{
    int64_t *to = x->numbers + x->taken;
    struct bytes word;
    float value;
    item->ints = to;
    item->floats = (const uint8_t *)to;
    for (item->count = 0; (word = text_word(&left)).n != 0; item->count++)
        if (item->type == EXAMPLE_INTS) {
            if (!text_to_i64(word, &to[item->count]))
                return false;
        } else if (text_to_float(word, &value) == TEXT_FLOAT_OK) {
            store_le_float((uint8_t *)to + item->count * sizeof(float), value);
        } else {
            return false;
        }
    x->taken += item->count;
    return true;
}

static enum imrec_status add_numbers(struct again *a, const struct feature_word *w,
                                     struct bytes name, struct imrec_error *err)
{
    struct example_item item = {.type = w->type};
    const struct imrec_field *f;
    IMREC_TRY(find_field(a, name, 0, &f, err));
    if (f->kind == (w->type == EXAMPLE_INTS ? IMREC_FIELD_INT64 : IMREC_FIELD_FLOAT32))
        item = example_field_item(a->x, f);
    else if (f->kind != IMREC_FIELD_BYTES ||
             !read_numbers(a->x, (struct bytes){f->bytes, f->size}, &item))
        return fail(a,
                    w->type == EXAMPLE_INTS
                        ? "has a field that is no int64s, as its " SAMPLE_FEATURES " says"
                        : "has a field that is no floats, as its " SAMPLE_FEATURES " says",
                    name, err);
    item.name = name;
    a->x->items[a->x->count++] = item;
    return IMREC_OK;
}

/* ---- words -------------------------------------------------------------------------------- */

static enum imrec_status add_values(struct again *a, const struct feature_word *w,
                                    struct bytes name, struct imrec_error *err)
{
    struct example_parts *x = a->x;
    struct bytes *list = x->values + a->value_count;
    const struct imrec_field *f;
    for (uint64_t i = 0; i < w->count; i++) { /* each is another field: there is room */
        IMREC_TRY(find_field(a, name, i, &f, err));
        if (f->kind != IMREC_FIELD_BYTES)
            return fail(a, "has numbers, and bytes by its " SAMPLE_FEATURES, name, err);
        x->values[a->value_count++] = (struct bytes){f->bytes, f->size};
    }
    x->items[x->count++] = (struct example_item){
        .name = name, .type = EXAMPLE_BYTES, .list = list, .count = (size_t)w->count};
    return IMREC_OK;
}

static struct example_item file_of(struct bytes name, const void *p, size_t n)
{
    return (struct example_item){.name = name, .type = EXAMPLE_BYTES, .bytes = {p, n}};
}

static struct example_item
label_of(struct again *a, const struct feature_word *w, struct bytes name)
{
    if (w->type == EXAMPLE_NONE && a->r->label_count == 0)
        return (struct example_item){.name = name};
    return example_label_item(a->x, a->r, name, w->type != EXAMPLE_FLOATS);
}

/* Parts of the record, once each: a text of many words makes no Example of many images. */
static enum imrec_status
add_part(struct again *a, const struct feature_word *w, struct bytes name, struct imrec_error *err)
{
    const struct imrec_record *r = a->r;
    bool *had = w->role == FEATURE_IMAGE  ? &a->image
                : w->role == FEATURE_MASK ? &a->mask
                                          : &a->label;
    if (*had)
        return fail(a, "has a " SAMPLE_FEATURES " with a part of the record twice", name, err);
    *had = true;
    a->x->items[a->x->count++] = w->role == FEATURE_IMAGE  ? file_of(name, r->image, r->image_size)
                                 : w->role == FEATURE_MASK ? file_of(name, r->mask, r->mask_size)
                                                           : label_of(a, w, name);
    return IMREC_OK;
}

static enum imrec_status
add_word(struct again *a, const struct feature_word *w, struct imrec_error *err)
{
    struct buf *names = &a->x->names; /* has room for all */
    const size_t begin = names->n;
    bool is_one;
    IMREC_TRY(word_read(names, w->name, &is_one, err));
    const struct bytes name = {names->p + begin, names->n - begin};
    if (!is_one)
        return fail(a, "has a " SAMPLE_FEATURES " with a name that is none", w->name, err);
    if (w->role != FEATURE_FIELD)
        return add_part(a, w, name, err);
    if (w->type == EXAMPLE_BYTES)
        return add_values(a, w, name, err);
    if (w->type != EXAMPLE_NONE)
        return add_numbers(a, w, name, err);
    a->x->items[a->x->count++] = (struct example_item){.name = name};
    return IMREC_OK;
}

/* ---- what the text does not name ---------------------------------------------------------- */

/* What describes the sample, and files that have what its header has. */
static bool is_known(const struct again *a, const struct imrec_field *f)
{
    static const char *const names[] = {SAMPLE_FEATURES, SAMPLE_KEY, SAMPLE_FILES, FILE_LABELS,
                                        FILE_IDS};
    const size_t n = sizeof(names) / sizeof(*names) - (a->of_files ? 0 : 2);
    for (size_t i = 0; i < n; i++)
        if (transfer_is_called(f, names[i]))
            return true;
    return transfer_is_mask(a->r, f);
}

static void add_new_fields(struct again *a, uint64_t *dropped)
{
    size_t same;
    for (uint32_t i = 0; i < a->r->field_count; i++) {
        const struct imrec_field *f = &a->r->fields[i];
        if (a->x->used[i]) /* the mask, under its own name */
            a->mask |= transfer_is_mask(a->r, f);
        else if (!is_known(a, f))
            *dropped += !example_add_field(a->x, f, &same);
    }
}

/* A label of 0 alone is what a record without labels gets. */
static bool has_new_labels(const struct again *a)
{
    const struct imrec_record *r = a->r;
    return !a->label && r->label_count != 0 && (r->label_count > 1 || r->labels[0] != 0);
}

static enum imrec_status add_new_parts(struct again *a, uint64_t *dropped, struct imrec_error *err)
{
    struct example_parts *x = a->x;
    const struct imrec_record *r = a->r;
    static const char label[] = EXAMPLE_LABEL, mask[] = EXAMPLE_MASK;
    add_new_fields(a, dropped);
    if (!a->mask && r->mask != NULL)
        x->items[x->count++] = example_file_item(mask, r->mask, r->mask_size);
    if (!has_new_labels(a))
        return IMREC_OK;
    const struct bytes name = {(const uint8_t *)label, sizeof(label) - 1};
    for (size_t i = 0; i < x->count; i++)
        if (x->items[i].name.n == name.n && memcmp(x->items[i].name.p, label, name.n) == 0)
            return fail(a, "has labels and a field of their name: label=none leaves them out", name,
                        err);
    x->items[x->count++] = example_label_item(x, r, name, true);
    return IMREC_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

/* A text has a number in every second byte at most. */
static enum imrec_status make_room(struct again *a, struct bytes text, struct imrec_error *err)
{
    const struct imrec_record *r = a->r;
    struct example_parts *x = a->x;
    uint64_t words = 1, numbers = r->label_count;
    for (size_t i = 0; i < text.n; i++)
        words += text.p[i] == ' ';
    for (uint32_t i = 0; i < r->field_count; i++)
        numbers += r->fields[i].size / (r->fields[i].kind == IMREC_FIELD_BYTES ? 2 : 8) + 1;
    IMREC_TRY(example_parts_room(x, words + r->field_count + 2, numbers, err));
    if (!IMREC_GROW(x->values, x->value_room, (uint64_t)r->field_count + 1) ||
        !IMREC_GROW(x->used, x->used_room, (uint64_t)r->field_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the features of an Example");
    memset(x->used, 0, r->field_count);
    x->names.n = 0;
    return buf_reserve(&x->names, text.n, err);
}

enum imrec_status example_again(struct example_parts *x, const struct imrec_record *r,
                                struct bytes text, uint64_t *dropped, struct imrec_error *err)
{
    struct again a = {.x = x, .r = r, .of_files = transfer_text_in(r, SAMPLE_FILES).p != NULL};
    struct bytes left = text;
    struct feature_word w;
    IMREC_TRY(make_room(&a, text, err));
    while (left.n != 0) {
        if (!feature_list_next(&left, &w))
            return fail(&a, "has a " SAMPLE_FEATURES " that is no list of features", left, err);
        IMREC_TRY(add_word(&a, &w, err));
    }
    return add_new_parts(&a, dropped, err);
}
