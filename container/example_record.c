/* container/example_record.c - a tf.train.Example as a record. */
#include "container/example_record.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/room_labels.h"
#include "formats/text.h"
#include "formats/tfrecord/example.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_LABEL "none"

/* ---- names -------------------------------------------------------------------------------- */

static char *copy(const char *name, const char *usual)
{
    const char *of = name != NULL && name[0] != '\0' ? name : usual;
    return imrec_joined(of, strlen(of), "");
}

enum imrec_status example_names_copy(struct example_names *n, const struct container_options *o,
                                     struct imrec_error *err)
{
    *n = (struct example_names){copy(o->image, EXAMPLE_IMAGE), copy(o->label, EXAMPLE_LABEL),
                                copy(o->mask, EXAMPLE_MASK), "image", "label"};
    return n->image != NULL && n->label != NULL && n->mask != NULL
               ? IMREC_OK
               : IMREC_NO_MEMORY(err, "no memory for names of features");
}

void example_names_free(struct example_names *n)
{
    IMREC_FREE(n->image, n->label, n->mask);
    *n = (struct example_names){0};
}

static bool is(struct bytes name, const char *text)
{
    return name.n == strlen(text) && memcmp(name.p, text, name.n) == 0;
}

/* "'image/format', 'image/width'", of as many as fit. */
static void list_names(struct bytes example, char *to, size_t room)
{
    struct example_cursor c;
    struct example_entry e;
    size_t n = 0;
    example_begin(&c, example);
    (void)snprintf(to, room, "none");
    while (example_next(&c, &e, NULL) == IMREC_OK) {
        const int more =
            snprintf(to + n, room - n, "%s%s", n != 0 ? ", " : "", text_quote(e.name).s);
        if (more < 0 || (size_t)more >= room - n) {
            to[n] = '\0';
            return;
        }
        n += (size_t)more;
    }
}

static enum imrec_status
no_feature(struct bytes example, const char *option, const char *name, struct imrec_error *err)
{
    char names[200];
    list_names(example, names, sizeof(names));
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the Example has no feature '%.80s' (%s=NAME names another one): it has %s",
                      name, option, names);
}

/* ---- labels ------------------------------------------------------------------------------- */

static enum imrec_status put_labels(const struct example_names *n, const struct example_feature *f,
                                    struct parse_room *room, struct record *out,
                                    struct imrec_error *err)
{
    const bool whole = f->type == EXAMPLE_INTS;
    struct example_values v;
    struct example_value value;
    uint32_t i = 0;
    for (example_values(f, &v); example_value(&v, &value); i++) {
        const struct label_number label = {whole, value.i, (double)value.f};
        if (!room_labels_put(room, i, &label))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "feature '%.100s' has %.17g: a label is a finite number that its "
                              "type has exactly (dtype_label=int64 has all whole numbers)",
                              n->label, whole ? (double)value.i : (double)value.f);
    }
    room_labels_end(room, i, out);
    return IMREC_OK;
}

static enum imrec_status read_labels(const struct example_names *n, struct bytes example,
                                     struct bytes entry, struct parse_room *room,
                                     struct record *out, struct imrec_error *err)
{
    struct example_feature f;
    if (strcmp(n->label, NO_LABEL) == 0) {
        room_labels_none(room, out);
        return IMREC_OK;
    }
    if (entry.p == NULL) /* none under the usual name is no error: labels may not be wanted */
        return strcmp(n->label, EXAMPLE_LABEL) == 0
                   ? IMREC_OK
                   : no_feature(example, n->label_option, n->label, err);
    IMREC_TRY(example_look(entry, &f, err));
    if (f.type == EXAMPLE_BYTES)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "feature '%.100s' is bytes: labels are int64s or floats (%s=)", n->label,
                          n->label_option);
    return put_labels(n, &f, room, out, err);
}

/* ---- fields ------------------------------------------------------------------------------- */

/* By name, of equal ones by place. */
static int by_name(const void *a, const void *b)
{
    const struct record_field *x = a, *y = b;
    const size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    const int order = n != 0 ? memcmp(x->name.p, y->name.p, n) : 0;
    if (order != 0)
        return order;
    if (x->name.n != y->name.n)
        return x->name.n < y->name.n ? -1 : 1;
    return (x->value.p > y->value.p) - (x->value.p < y->value.p);
}

static bool is_same(struct bytes a, struct bytes b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Entries of the map that are fields into room->fields, the last of each name. */
static enum imrec_status find_entries(const struct example_names *n, struct bytes example,
                                      bool mask, struct parse_room *room, uint64_t *count,
                                      struct imrec_error *err)
{
    struct example_cursor c;
    struct example_entry e;
    uint64_t all = 0, kept = 0;
    example_begin(&c, example);
    while (example_next(&c, &e, NULL) == IMREC_OK) { /* it has been read before */
        if (is(e.name, n->image) || is(e.name, n->label) || (mask && is(e.name, n->mask)))
            continue;
        if (!IMREC_GROW(room->fields, room->field_room, all + 1))
            return IMREC_NO_MEMORY(err, "no memory for the features of an Example");
        room->fields[all++] = (struct record_field){e.name, e.bytes, FIELD_BYTES};
    }
    if (all != 0)
        qsort(room->fields, (size_t)all, sizeof(*room->fields), by_name);
    for (uint64_t i = 0; i < all; i++)
        if (i + 1 == all || !is_same(room->fields[i].name, room->fields[i + 1].name))
            room->fields[kept++] = room->fields[i];
    *count = kept;
    return IMREC_OK;
}

static size_t number_bytes(enum example_type t)
{
    return t == EXAMPLE_INTS ? sizeof(int64_t) : t == EXAMPLE_FLOATS ? sizeof(float) : 0;
}

/* What the fields of `count` entries take. */
static enum imrec_status measure(const struct parse_room *room, uint64_t count, uint64_t *fields,
                                 uint64_t *bytes, struct imrec_error *err)
{
    struct example_feature f;
    *fields = *bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        IMREC_TRY(example_look(room->fields[i].value, &f, err));
        *fields += number_bytes(f.type) != 0 ? 1 : f.count;
        *bytes += number_bytes(f.type) * f.count; /* a value has a byte of the record at least */
    }
    return IMREC_OK;
}

static enum imrec_status make_room(struct parse_room *room, uint64_t bytes, struct imrec_error *err)
{
    if (bytes > room->limit)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "the numbers of an Example take %" PRIu64 " bytes, at most %zu are kept",
                          bytes, room->limit);
    if (bytes <= room->n)
        return IMREC_OK;
    uint8_t *p = imrec_realloc(room->p, (size_t)bytes, 1);
    if (p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the numbers of an Example");
    room->p = p;
    room->n = (size_t)bytes;
    return IMREC_OK;
}

/* The fields of an entry at *to; its numbers go to *p. */
static void take_field(struct bytes name, const struct example_feature *f, struct record_field **to,
                       uint8_t **p)
{
    const size_t one = number_bytes(f->type);
    struct example_values v;
    struct example_value x;
    if (one != 0)
        *(*to)++ = (struct record_field){name,
                                         {*p, one * (size_t)f->count},
                                         f->type == EXAMPLE_INTS ? FIELD_INT64 : FIELD_FLOAT32};
    for (example_values(f, &v); example_value(&v, &x);) {
        if (one == 0) {
            *(*to)++ = (struct record_field){name, x.bytes, FIELD_BYTES};
            continue;
        }
        if (f->type == EXAMPLE_INTS)
            store_le64(*p, (uint64_t)x.i);
        else
            store_le_float(*p, x.f);
        *p += one;
    }
}

static enum imrec_status read_fields(const struct example_names *n, struct bytes example, bool mask,
                                     struct parse_room *room, struct record *out,
                                     struct imrec_error *err)
{
    uint64_t entries = 0, fields, bytes;
    struct example_feature f;
    IMREC_TRY(find_entries(n, example, mask, room, &entries, err));
    IMREC_TRY(measure(room, entries, &fields, &bytes, err));
    IMREC_TRY(make_room(room, bytes, err));
    if (fields + entries == 0)
        return IMREC_OK;
    if (!IMREC_GROW(room->fields, room->field_room, fields + entries))
        return IMREC_NO_MEMORY(err, "no memory for the features of an Example");
    struct record_field *from = room->fields + fields, *to = room->fields;
    uint8_t *p = room->p;
    memmove(from, room->fields, (size_t)entries * sizeof(*from));
    for (uint64_t i = 0; i < entries; i++) {
        IMREC_TRY(example_look(from[i].value, &f, err));
        take_field(from[i].name, &f, &to, &p);
    }
    out->fields = room->fields;
    out->field_count = (uint32_t)fields;
    return IMREC_OK;
}

/* ---- the record --------------------------------------------------------------------------- */

static enum imrec_status
read_file(struct bytes entry, const char *name, struct bytes *out, struct imrec_error *err)
{
    struct example_feature f;
    IMREC_TRY(example_look(entry, &f, err));
    if (example_only_bytes(&f, out))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "feature '%.100s' has %" PRIu64 " %s: an image is one value of bytes", name,
                      f.count, f.type == EXAMPLE_BYTES ? "values of bytes" : "numbers");
}

/* Entries of an Example; p NULL: it has none. */
struct parts {
    struct bytes image, label, mask;
};

static enum imrec_status find_parts(const struct example_names *n, struct bytes example,
                                    struct parts *out, struct imrec_error *err)
{
    struct example_cursor c;
    struct example_entry e;
    enum imrec_status st;
    *out = (struct parts){{NULL, 0}, {NULL, 0}, {NULL, 0}};
    example_begin(&c, example);
    while ((st = example_next(&c, &e, err)) == IMREC_OK) { /* the last one of a name counts */
        out->image = is(e.name, n->image) ? e.bytes : out->image;
        out->label = is(e.name, n->label) ? e.bytes : out->label;
        out->mask = is(e.name, n->mask) ? e.bytes : out->mask;
    }
    return st == IMREC_END ? IMREC_OK : st;
}

enum imrec_status example_has_image(const struct example_names *n, struct bytes example, bool *has,
                                    struct imrec_error *err)
{
    struct parts p;
    const enum imrec_status st = find_parts(n, example, &p, err);
    *has = p.image.p != NULL;
    return st;
}

enum imrec_status example_record(const struct example_names *n, struct bytes example,
                                 unsigned wanted, struct parse_room *room, struct record *out,
                                 struct imrec_error *err)
{
    const bool mask = (wanted & RECORD_MASK) != 0;
    struct parts p;
    IMREC_TRY(find_parts(n, example, &p, err));
    const bool image = (wanted & RECORD_IMAGE) != 0;
    if (image && p.image.p == NULL)
        return no_feature(example, n->image_option, n->image, err);
    if (image)
        IMREC_TRY(read_file(p.image, n->image, &out->image, err));
    if (mask && p.mask.p != NULL)
        IMREC_TRY(read_file(p.mask, n->mask, &out->mask, err));
    if ((wanted & RECORD_FIELDS) != 0)
        IMREC_TRY(read_fields(n, example, mask, room, out, err));
    return (wanted & RECORD_LABELS) != 0 ? read_labels(n, example, p.label, room, out, err)
                                         : IMREC_OK;
}
