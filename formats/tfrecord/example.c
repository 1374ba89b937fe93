/* formats/tfrecord/example.c - the features of a tf.train.Example.
 *
 *     Example  { Features features = 1; }
 *     Features { map<string, Feature> feature = 1; }   entry { string key = 1; Feature value = 2; }
 *     Feature  { oneof { BytesList = 1; FloatList = 2; Int64List = 3; } }
 *     ...List  { repeated value = 1; }
 */
#include "formats/tfrecord/example.h"

#include "base/error.h"
#include "formats/tfrecord/proto_wire.h"

enum { FEATURES = 1, FEATURE = 1, KEY = 1, VALUE = 2, LIST_VALUE = 1 };

static bool is_message(const struct wire_field *f, uint32_t number)
{
    return f->number == number && f->type == WIRE_BYTES;
}

/* ---- the map ------------------------------------------------------------------------------ */

void example_begin(struct example_cursor *c, struct bytes example)
{
    *c = (struct example_cursor){example, {NULL, 0}};
}

static enum imrec_status read_name(struct bytes entry, struct bytes *name, struct imrec_error *err)
{
    struct wire_field f;
    enum imrec_status st;
    *name = (struct bytes){entry.p, 0};
    while ((st = wire_next(&entry, &f, err)) == IMREC_OK)
        if (is_message(&f, KEY))
            *name = f.bytes;
    return st == IMREC_END ? IMREC_OK : st;
}

enum imrec_status
example_next(struct example_cursor *c, struct example_entry *out, struct imrec_error *err)
{
    struct wire_field f;
    for (;;) {
        enum imrec_status st = wire_next(&c->features, &f, err);
        if (st == IMREC_END) {
            IMREC_TRY(wire_next(&c->example, &f, err)); /* or the end of all */
            if (is_message(&f, FEATURES))
                c->features = f.bytes;
            continue;
        }
        IMREC_TRY(st);
        if (!is_message(&f, FEATURE))
            continue;
        out->bytes = f.bytes;
        return read_name(f.bytes, &out->name, err);
    }
}

/* ---- values ------------------------------------------------------------------------------- */

/* The next list of values of any type, after what is skipped. */
static enum imrec_status
next_list(struct example_values *v, enum example_type *type, struct imrec_error *err)
{
    struct wire_field f;
    for (;;) {
        const enum imrec_status st = wire_next(&v->feature, &f, err);
        if (st == IMREC_END) {
            IMREC_TRY(wire_next(&v->entry, &f, err));
            if (is_message(&f, VALUE))
                v->feature = f.bytes;
            continue;
        }
        IMREC_TRY(st);
        if (f.type != WIRE_BYTES || f.number > EXAMPLE_INTS || v->seen++ < v->skip)
            continue;
        *type = (enum example_type)f.number;
        v->list = f.bytes;
        return IMREC_OK;
    }
}

static enum imrec_status
take_packed(struct example_values *v, struct example_value *out, struct imrec_error *err)
{
    uint64_t number;
    if (v->type == EXAMPLE_FLOATS) {
        if (v->packed.n < sizeof(float))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "packed floats end with %zu bytes, a float has 4", v->packed.n);
        out->f = load_le_float(v->packed.p);
        v->packed.p += sizeof(float);
        v->packed.n -= sizeof(float);
        return IMREC_OK;
    }
    if (!wire_varint(&v->packed, &number))
        return imrec_fail(err, IMREC_ERR_CORRUPT, "the last of packed numbers does not end");
    out->i = (int64_t)number;
    return IMREC_OK;
}

/* Whether the field is a value itself. */
static bool
is_value(struct example_values *v, const struct wire_field *f, struct example_value *out)
{
    const uint32_t bits = (uint32_t)f->value;
    switch (v->type) {
    case EXAMPLE_BYTES:
        out->bytes = f->bytes;
        return f->type == WIRE_BYTES;
    case EXAMPLE_FLOATS:
        memcpy(&out->f, &bits, sizeof(bits));
        return f->type == WIRE_FIXED32;
    case EXAMPLE_INTS:
        out->i = (int64_t)f->value;
        return f->type == WIRE_VARINT;
    case EXAMPLE_NONE:
        break;
    }
    return false;
}

static enum imrec_status
next_value(struct example_values *v, struct example_value *out, struct imrec_error *err)
{
    struct wire_field f;
    for (;;) {
        if (v->packed.n != 0)
            return take_packed(v, out, err);
        const enum imrec_status st = wire_next(&v->list, &f, err);
        if (st == IMREC_END) {
            IMREC_TRY(next_list(v, &v->type, err));
            continue;
        }
        IMREC_TRY(st);
        if (f.number != LIST_VALUE)
            continue;
        if (is_value(v, &f, out))
            return IMREC_OK;
        if (f.type == WIRE_BYTES) /* of a type of numbers */
            v->packed = f.bytes;
    }
}

/* The last list's type, and how many of another type, or before one of another, are no part of it.
 */
static enum imrec_status
find_type(struct bytes entry, struct example_feature *out, struct imrec_error *err)
{
    struct example_values v = {.entry = entry};
    enum example_type type;
    enum imrec_status st;
    while ((st = next_list(&v, &type, err)) == IMREC_OK) {
        if (type != out->type)
            out->skip = v.seen - 1;
        out->type = type;
    }
    return st == IMREC_END ? IMREC_OK : st;
}

enum imrec_status
example_look(struct bytes entry, struct example_feature *out, struct imrec_error *err)
{
    struct example_values v;
    struct example_value value;
    enum imrec_status st;
    *out = (struct example_feature){.entry = entry};
    IMREC_TRY(find_type(entry, out, err));
    example_values(out, &v);
    while ((st = next_value(&v, &value, err)) == IMREC_OK)
        out->count++;
    return st == IMREC_END ? IMREC_OK : st;
}

void example_values(const struct example_feature *f, struct example_values *v)
{
    *v = (struct example_values){.entry = f->entry, .type = f->type, .skip = f->skip};
}

bool example_value(struct example_values *v, struct example_value *out)
{
    return next_value(v, out, NULL) == IMREC_OK;
}

bool example_only_bytes(const struct example_feature *f, struct bytes *out)
{
    struct example_values v;
    struct example_value value;
    example_values(f, &v);
    if (f->type != EXAMPLE_BYTES || f->count != 1 || !example_value(&v, &value))
        return false;
    *out = value.bytes;
    return true;
}
