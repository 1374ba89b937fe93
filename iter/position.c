/* iter/position.c - a place on the timeline as JSON text. */
#include "iter/position.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define DATA_DIGITS 17 /* 16 hex digits and the end */

struct field {
    const char *name;
    size_t offset;
};
#define ORDER_FIELD(name)                                                                          \
    {                                                                                              \
#name, offsetof(struct position_order, name)                                               \
    }
static const struct field order_fields[] = {
    ORDER_FIELD(seed),           ORDER_FIELD(shuffle),       ORDER_FIELD(indexed),
    ORDER_FIELD(shuffle_window), ORDER_FIELD(shuffle_chunk), ORDER_FIELD(num_parts),
    ORDER_FIELD(part_index),     ORDER_FIELD(equal_batches),
};
enum { ORDER_FIELDS = sizeof(order_fields) / sizeof(order_fields[0]) };

static int64_t order_value(const struct position_order *o, size_t i)
{
    return *(const int64_t *)((const char *)o + order_fields[i].offset);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* By hand: the keys keep their order, and there is nothing to escape. */
static int print(char *to, size_t n, const struct position_order *o, const struct place *p)
{
    int used = snprintf(to, n, "{\"version\": %d, \"data\": \"%016" PRIx64 "\"", POSITION_VERSION,
                        o->data);
    for (size_t i = 0; i < ORDER_FIELDS; i++)
        used += snprintf(to + used, n - (size_t)used, ", \"%s\": %" PRId64, order_fields[i].name,
                         order_value(o, i));
    return used + snprintf(to + used, n - (size_t)used,
                           ", \"sweep\": %" PRIu64 ", \"sample\": %" PRIu64
                           ", \"repeating\": %s, \"window\": %" PRIu64
                           ", \"window_first_sample\": %" PRIu64 ", \"position\": %" PRIu64
                           ", \"epoch\": %" PRIu64 ", \"epoch_sample\": %" PRIu64 "}",
                           p->run.sweep, p->run.sample, p->run.repeating ? "true" : "false",
                           p->window, p->before, p->run.position, p->run.epoch, p->run.in_epoch);
}

enum imrec_status position_write(const struct position_order *order, const struct place *place,
                                 char **text, struct imrec_error *err)
{
    char line[1024]; /* 17 numbers of at most 20 digits, and their names */
    const int n = print(line, sizeof(line), order, place);
    char *copy = imrec_realloc(NULL, (size_t)n + 1, 1);
    if (copy == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory for a position");
    memcpy(copy, line, (size_t)n + 1);
    *text = copy;
    return IMREC_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum imrec_status wrong(struct imrec_error *err, const char *key, const char *want)
{
    return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET, "position: \"%s\" must be %s",
                          key, want);
}

static enum imrec_status
take_number(const json_t *root, const char *key, int64_t *out, struct imrec_error *err)
{
    const json_t *v = json_object_get(root, key);
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return wrong(err, key, "a whole number from 0");
    *out = json_integer_value(v);
    return IMREC_OK;
}

/* Equal partitions come to equal places: any of them may go on where another one stood. */
static bool may_differ(const struct position_order *o, const struct field *f)
{
    return o->equal_batches && f->offset == offsetof(struct position_order, part_index);
}

static enum imrec_status
check_order(const json_t *root, const struct position_order *o, bool *own, struct imrec_error *err)
{
    char want[DATA_DIGITS];
    const char *data = json_string_value(json_object_get(root, "data"));
    snprintf(want, sizeof(want), "%016" PRIx64, o->data);
    if (data == NULL)
        return wrong(err, "data", "a fingerprint of 16 hex digits");
    if (strcmp(data, want) != 0)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "position: it is of other data (fingerprint %.16s, these shards%s "
                              "have %s)",
                              data,
                              o->indexed    ? " and what lists their records"
                              : o->verified ? ", read with verify_checksums=1,"
                                            : "",
                              want);
    for (size_t i = 0; i < ORDER_FIELDS; i++) {
        int64_t v = 0;
        IMREC_TRY(take_number(root, order_fields[i].name, &v, err));
        if (may_differ(o, &order_fields[i]) && v < o->num_parts)
            *own = v == order_value(o, i);
        else if (v != order_value(o, i))
            return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                                  "position: it was taken with %s=%" PRId64
                                  ", this iterator has %s=%" PRId64,
                                  order_fields[i].name, v, order_fields[i].name, order_value(o, i));
    }
    return IMREC_OK;
}

static enum imrec_status
take_place(const json_t *root, uint64_t windows, struct place *p, struct imrec_error *err)
{
    int64_t sweep = 0, sample = 0, window = 0, before = 0, position = 0, epoch = 0, in_epoch = 0;
    const json_t *repeating = json_object_get(root, "repeating");
    IMREC_TRY(take_number(root, "sweep", &sweep, err));
    IMREC_TRY(take_number(root, "sample", &sample, err));
    IMREC_TRY(take_number(root, "window", &window, err));
    IMREC_TRY(take_number(root, "window_first_sample", &before, err));
    IMREC_TRY(take_number(root, "position", &position, err));
    IMREC_TRY(take_number(root, "epoch", &epoch, err));
    IMREC_TRY(take_number(root, "epoch_sample", &in_epoch, err));
    if (!json_is_boolean(repeating))
        return wrong(err, "repeating", "true or false");
    if ((uint64_t)window >= windows)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "position: \"window\" is %" PRId64 ", a sweep has %" PRIu64, window,
                              windows);
    if (before > sample)
        return wrong(err, "window_first_sample", "at most \"sample\"");
    *p = (struct place){
        .run = {.sweep = (uint64_t)sweep,
                .sample = (uint64_t)sample,
                .repeating = json_is_true(repeating),
                .given = sample != 0,
                .position = (uint64_t)position,
                .epoch = (uint64_t)epoch,
                .in_epoch = (uint64_t)in_epoch},
        .window = (uint64_t)window,
        .before = (uint64_t)before,
    };
    return IMREC_OK;
}

static enum imrec_status take_all(const json_t *root, const struct position_order *order,
                                  uint64_t windows, struct place *place, bool *own,
                                  struct imrec_error *err)
{
    int64_t version = 0;
    IMREC_TRY(take_number(root, "version", &version, err));
    if (version != POSITION_VERSION)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, IMREC_NO_OFFSET,
                              "position: it has version %" PRId64 ", this library reads %d",
                              version, POSITION_VERSION);
    *own = true;
    IMREC_TRY(check_order(root, order, own, err));
    return take_place(root, *own ? windows : UINT64_MAX, place, err);
}

enum imrec_status position_read(const char *text, const struct position_order *order,
                                uint64_t windows, struct place *place, bool *own,
                                struct imrec_error *err)
{
    json_error_t why;
    if (strnlen(text, POSITION_MAX_BYTES + 1) > POSITION_MAX_BYTES)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "position: the text is longer than %zu bytes", POSITION_MAX_BYTES);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "position: line %d, column %d: %s", why.line, why.column, why.text);
    const enum imrec_status st = take_all(root, order, windows, place, own, err);
    json_decref(root);
    return st;
}

bool position_indexed(const char *text, bool *indexed)
{
    int64_t v = 0;
    if (strnlen(text, POSITION_MAX_BYTES + 1) > POSITION_MAX_BYTES)
        return false;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const bool says = root != NULL && take_number(root, "indexed", &v, NULL) == IMREC_OK && v <= 1;
    *indexed = v != 0;
    json_decref(root);
    return says;
}
