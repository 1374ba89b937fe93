/* container/room_labels.c */
#include "container/room_labels.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/json_read.h"
#include "formats/set/image_list.h"
#include "formats/text.h"

#include <math.h>
#include <string.h>

#define JSON_MOST ((size_t)64 << 20)

/* ---- one number ---------------------------------------------------------------------------- */

static double as_double(const struct label_number *v)
{
    return v->whole ? (double)v->i : v->f;
}

/* Whether v is the whole number i: (double)INT64_MAX is 2^63, which is beyond. */
static bool is_whole(double v, int64_t i)
{
    return v < 0x1p63 && v >= -0x1p63 && (int64_t)v == i;
}

static bool put_typed(struct parse_room *room, uint32_t i, const struct label_number *v)
{
    const double f = as_double(v);
    const bool fits = i < room->label_room;
    if (room->type == IMREC_LABEL_FLOAT64) {
        if (fits)
            room->typed[i].f = f;
        return !v->whole || is_whole(f, v->i);
    }
    const bool exact = v->whole || (f == floor(f) && f < 0x1p63 && f >= -0x1p63);
    if (exact && fits)
        room->typed[i].i = v->whole ? v->i : (int64_t)f;
    return exact;
}

bool room_labels_put(struct parse_room *room, uint32_t i, const struct label_number *v)
{
    const double f = as_double(v);
    const float rounded = (float)f;
    if (!isfinite(rounded))
        return false;
    if (i < room->label_room)
        store_le_float((uint8_t *)&room->labels[i], rounded);
    if (room->typed != NULL)
        return put_typed(room, i, v);
    return !v->whole || is_whole((double)rounded, v->i);
}

void room_labels_end(struct parse_room *room, uint32_t count, struct record *out)
{
    const uint32_t n = count < room->label_room ? count : room->label_room;
    out->label_count = count;
    out->labels = (struct bytes){(const uint8_t *)room->labels, n * sizeof(float)};
    out->typed = room->typed;
}

void room_labels_none(struct parse_room *room, struct record *out)
{
    const uint32_t n = room->label_room != 0 ? room->label_room : 1;
    const struct label_number zero = {.whole = true};
    for (uint32_t i = 0; i < n; i++)
        (void)room_labels_put(room, i, &zero);
    room_labels_end(room, n, out);
}

static enum imrec_status refuse_number(const struct parse_room *room, const char *name,
                                       struct bytes text, struct imrec_error *err)
{
    const bool whole = room->typed != NULL && room->type == IMREC_LABEL_INT64;
    return imrec_fail(err, IMREC_ERR_CORRUPT, "%.100s is %s: a label is a %s", name,
                      text_quote(text).s,
                      whole ? "whole number of 64 bits (dtype_label=int64)"
                            : "finite number that its type has exactly (dtype_label=int64 has "
                              "whole numbers that a float32 has not)");
}

/* ---- text ---------------------------------------------------------------------------------- */

static bool is_between(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '\f' || c == '\v';
}

/* -0 is no whole number. */
static bool read_number(struct bytes word, struct label_number *out)
{
    *out = (struct label_number){.whole = false};
    out->whole = text_to_i64(word, &out->i) && (out->i != 0 || word.p[0] != '-');
    if (out->whole)
        return true;
    return text_to_double(word, &out->f) == TEXT_FLOAT_OK && text_keeps_whole(word, out->f);
}

enum imrec_status room_labels_text(struct parse_room *room, struct bytes text, const char *name,
                                   struct record *out, struct imrec_error *err)
{
    uint32_t count = 0;
    struct label_number v;
    for (size_t i = 0; i < text.n;) {
        size_t end = i;
        while (end < text.n && !is_between(text.p[end]))
            end++;
        const struct bytes word = {text.p + i, end - i};
        if (word.n != 0 && (!read_number(word, &v) || !room_labels_put(room, count, &v)))
            return refuse_number(room, name, text, err);
        count += word.n != 0; /* at most one of two bytes: no overflow below 8 GiB */
        i = end + 1;
    }
    if (count == 0)
        return refuse_number(room, name, text, err);
    room_labels_end(room, count, out);
    return IMREC_OK;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* NULL: there is nothing. */
static const struct json_value *follow(const struct json_value *v, const char *path)
{
    char key[256];
    while (v != NULL && *path != '\0') {
        const size_t n = strcspn(path, ".");
        uint64_t i;
        if (n >= sizeof(key))
            return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        if (json_read_kind(v) == JSON_KIND_ARRAY)
            v = text_to_u64((struct bytes){(const uint8_t *)key, n}, &i) && i < json_read_count(v)
                    ? json_read_element(v, (size_t)i)
                    : NULL;
        else
            v = json_read_member(v, key);
        path += n + (path[n] == '.');
    }
    return v;
}

static bool number_of(const struct json_value *v, struct label_number *out)
{
    bool truth;
    *out = (struct label_number){.whole = false};
    if (json_read_bool(v, &truth)) {
        *out = (struct label_number){.whole = true, .i = truth};
        return true;
    }
    out->whole = json_read_i64(v, &out->i);
    return out->whole || json_read_number(v, &out->f);
}

static enum imrec_status take_json(struct parse_room *room, const struct json_value *v,
                                   const char *name, const char *path, struct record *out,
                                   struct imrec_error *err)
{
    const bool many = json_read_kind(v) == JSON_KIND_ARRAY;
    const size_t count = many ? json_read_count(v) : 1;
    struct label_number number;
    if (v == NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%.100s has nothing at %.100s", name, path);
    if (count > UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%.100s has %zu labels at %.100s", name, count,
                          path);
    for (size_t i = 0; i < count; i++)
        if (!number_of(many ? json_read_element(v, i) : v, &number) ||
            !room_labels_put(room, (uint32_t)i, &number))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "what %.100s has at %.100s is no number that a label can be: a "
                              "finite number of its type, or an array of them",
                              name, path);
    room_labels_end(room, (uint32_t)count, out);
    return IMREC_OK;
}

enum imrec_status room_labels_json(struct parse_room *room, struct bytes text, const char *name,
                                   const char *path, struct record *out, struct imrec_error *err)
{
    const struct json_input in = {.name = name, .text = text, .max_bytes = JSON_MOST};
    struct json_value *tree;
    IMREC_TRY(json_read(&in, &tree, err));
    const enum imrec_status st = take_json(room, follow(tree, path), name, path, out, err);
    json_read_free(tree);
    return st;
}

/* ---- fields -------------------------------------------------------------------------------- */

enum imrec_status room_fields(const struct record_payload *payload, struct parse_room *room,
                              struct record *out, struct imrec_error *err)
{
    struct bytes rest = payload->fields;
    struct record_field f;
    if (!IMREC_GROW(room->fields, room->field_room, (uint64_t)payload->field_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the fields of a record");
    while (record_fields_next(&rest, &f))
        room->fields[out->field_count++] = f; /* as many as were counted */
    out->fields = room->fields;
    return IMREC_OK;
}
