/* iter/position.c - a place on the timeline as JSON text. */
#include "iter/position.h"

#include "base/error.h"
#include "base/rng.h"
#include "formats/json_read.h"
#include "formats/json_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DATA_DIGITS 17 /* 16 hex digits and the end */
#define CHOICE      "choice"

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
static const struct field job_fields[] = {
    ORDER_FIELD(seed),           ORDER_FIELD(shuffle),       ORDER_FIELD(global_batch_size),
    ORDER_FIELD(shuffle_window), ORDER_FIELD(shuffle_chunk),
};
enum {
    ORDER_FIELDS = sizeof(order_fields) / sizeof(order_fields[0]),
    JOB_FIELDS = sizeof(job_fields) / sizeof(job_fields[0]),
};

static const struct field *fields_of(const struct position_order *o, size_t *n)
{
    *n = o->job ? JOB_FIELDS : ORDER_FIELDS;
    return o->job ? job_fields : order_fields;
}

static const char *order_word(bool job)
{
    return job ? "global" : "local";
}

static const char *locality_word(const struct position_order *o)
{
    return o->chunks ? "chunk" : "record";
}

static int64_t order_value(const struct position_order *o, const struct field *f)
{
    return *(const int64_t *)((const char *)o + f->offset);
}

uint64_t position_hash(const struct position_order *o)
{
    const struct rng_key key = {o->data, (uint64_t)o->job * 2 + o->chunks};
    uint64_t hash = 0;
    size_t n;
    const struct field *f = fields_of(o, &n);
    for (size_t i = 0; i < n; i++)
        if (f[i].offset != offsetof(struct position_order, part_index))
            hash = rng_block(key, hash, (uint64_t)order_value(o, &f[i]), i, RNG_UNIT_ORDER).v[0];
    return o->choice == 0 ? hash : rng_block(key, hash, o->choice, n, RNG_UNIT_ORDER).v[0];
}

/* ---- writing ------------------------------------------------------------------------------ */

static void hex_digits(uint64_t v, char out[DATA_DIGITS])
{
    (void)snprintf(out, DATA_DIGITS, "%016" PRIx64, v);
}

static void put_order(struct json_writer *w, const struct position_order *o)
{
    char data[DATA_DIGITS];
    size_t n;
    const struct field *f = fields_of(o, &n);
    hex_digits(o->data, data);
    json_write_u64(w, "version", o->job ? POSITION_OF_JOB : POSITION_VERSION);
    if (o->job)
        json_write_text(w, "order", order_word(true));
    json_write_text(w, "data", data);
    for (size_t i = 0; i < n; i++)
        json_write_i64(w, f[i].name, order_value(o, &f[i]));
    if (o->job)
        json_write_text(w, "locality", locality_word(o));
    if (o->choice != 0) {
        hex_digits(o->choice, data);
        json_write_text(w, CHOICE, data);
    }
}

static void put_all(struct json_writer *w, const struct position_order *o, const struct place *p)
{
    json_write_object(w, NULL, JSON_SPACED);
    put_order(w, o);
    json_write_u64(w, "sweep", p->run.sweep);
    json_write_u64(w, "sample", p->run.sample);
    if (!o->job) {
        json_write_bool(w, "repeating", p->run.repeating);
        json_write_u64(w, "window", p->window);
        json_write_u64(w, "window_first_sample", p->before);
    }
    json_write_u64(w, "position", p->run.position);
    json_write_u64(w, "epoch", p->run.epoch);
    json_write_u64(w, "epoch_sample", p->run.in_epoch);
    json_write_end(w);
}

enum imrec_status position_write(const struct position_order *order, const struct place *place,
                                 char **text, struct imrec_error *err)
{
    struct buf b = BUF_INIT(POSITION_MAX_BYTES);
    struct json_writer w = {.out = &b};
    put_all(&w, order, place);
    if (w.status == IMREC_OK)
        w.status = buf_append(&b, "", 1, NULL);
    if (w.status != IMREC_OK) {
        buf_free(&b);
        return imrec_fail(err, w.status, "no memory for a position");
    }
    *text = (char *)b.p;
    return IMREC_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum imrec_status wrong(struct imrec_error *err, const char *key, const char *want)
{
    return IMREC_REFUSE(err, "position: \"%s\" must be %s", key, want);
}

static enum imrec_status
take_number(const struct json_value *root, const char *key, uint64_t *out, struct imrec_error *err)
{
    int64_t v;
    if (!json_read_i64(json_read_member(root, key), &v) || v < 0)
        return wrong(err, key, "a whole number from 0");
    *out = (uint64_t)v;
    return IMREC_OK;
}

/* Equal partitions reach equal places: one may continue from the position of another. */
static bool may_differ(const struct position_order *o, const struct field *f)
{
    return o->equal_batches && f->offset == offsetof(struct position_order, part_index);
}

static enum imrec_status
check_data(const struct json_value *root, const struct position_order *o, struct imrec_error *err)
{
    const char *data = json_read_text(json_read_member(root, "data"));
    if (data == NULL)
        return wrong(err, "data", "a fingerprint of 16 hex digits");
    char want[DATA_DIGITS];
    hex_digits(o->data, want);
    if (strcmp(data, want) != 0)
        return IMREC_REFUSE(err,
                            "position: it is of other data (fingerprint %.16s, these shards%s "
                            "have %s)",
                            data,
                            o->indexed    ? " and what lists their records"
                            : o->verified ? ", read with verify_checksums=1,"
                                          : "",
                            want);
    return IMREC_OK;
}

static enum imrec_status check_order(const struct json_value *root, const struct position_order *o,
                                     bool *own, struct imrec_error *err)
{
    size_t n;
    const struct field *f = fields_of(o, &n);
    IMREC_TRY(check_data(root, o, err));
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        IMREC_TRY(take_number(root, f[i].name, &v, err));
        const bool same = (int64_t)v == order_value(o, &f[i]);
        if (may_differ(o, &f[i]) && (int64_t)v < o->num_parts)
            *own = same;
        else if (!same)
            return IMREC_REFUSE(
                err, "position: it was taken with %s=%" PRIu64 ", this iterator has %s=%" PRId64,
                f[i].name, v, f[i].name, order_value(o, &f[i]));
    }
    return IMREC_OK;
}

/* A word that the iterator has, too. */
static enum imrec_status check_word(const struct json_value *root, const char *key,
                                    const char *want, struct imrec_error *err)
{
    const char *word = json_read_text(json_read_member(root, key));
    if (word == NULL)
        return wrong(err, key, "a word");
    if (strcmp(word, want) == 0)
        return IMREC_OK;
    return IMREC_REFUSE(err, "position: it was taken with %s=%.20s, this iterator has %s=%s", key,
                        word, key, want);
}

/* What makes a sweep something else than every record once: the key is there, or it is not. */
static enum imrec_status
check_choice(const struct json_value *root, const struct position_order *o, struct imrec_error *err)
{
    const char *choice = json_read_text(json_read_member(root, CHOICE));
    char want[DATA_DIGITS] = "";
    if (o->choice != 0)
        hex_digits(o->choice, want);
    if (strcmp(choice != NULL ? choice : "", want) == 0)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "position: it was taken with another choice of samples (fingerprint "
                        "%.16s, here %s): mix, class_balanced, sample_weights, subset, repeats, "
                        "sweep_samples and their files must be the same",
                        choice != NULL ? choice : "none", want[0] != '\0' ? want : "none");
}

/* ... of a job: windows and laps are no part of it. */
static enum imrec_status take_job_place(const struct json_value *root,
                                        const struct position_order *o, struct place *p,
                                        struct imrec_error *err)
{
    struct place at = {.run = {.repeating = false}};
    IMREC_TRY(check_word(root, "order", order_word(true), err));
    IMREC_TRY(check_word(root, "locality", locality_word(o), err));
    IMREC_TRY(check_choice(root, o, err));
    IMREC_TRY(take_number(root, "sweep", &at.run.sweep, err));
    IMREC_TRY(take_number(root, "sample", &at.run.sample, err));
    IMREC_TRY(take_number(root, "position", &at.run.position, err));
    IMREC_TRY(take_number(root, "epoch", &at.run.epoch, err));
    IMREC_TRY(take_number(root, "epoch_sample", &at.run.in_epoch, err));
    if (at.run.sample > o->records)
        return IMREC_REFUSE(err, "position: \"sample\" is %" PRIu64 ", a sweep has %" PRIu64,
                            at.run.sample, o->records);
    at.run.given = at.run.sample != 0;
    *p = at;
    return IMREC_OK;
}

static enum imrec_status take_place(const struct json_value *root, uint64_t windows,
                                    struct place *p, struct imrec_error *err)
{
    struct place at;
    IMREC_TRY(take_number(root, "sweep", &at.run.sweep, err));
    IMREC_TRY(take_number(root, "sample", &at.run.sample, err));
    IMREC_TRY(take_number(root, "window", &at.window, err));
    IMREC_TRY(take_number(root, "window_first_sample", &at.before, err));
    IMREC_TRY(take_number(root, "position", &at.run.position, err));
    IMREC_TRY(take_number(root, "epoch", &at.run.epoch, err));
    IMREC_TRY(take_number(root, "epoch_sample", &at.run.in_epoch, err));
    if (!json_read_bool(json_read_member(root, "repeating"), &at.run.repeating))
        return wrong(err, "repeating", "true or false");
    if (at.window >= windows)
        return IMREC_REFUSE(err, "position: \"window\" is %" PRIu64 ", a sweep has %" PRIu64,
                            at.window, windows);
    if (at.before > at.run.sample)
        return wrong(err, "window_first_sample", "at most \"sample\"");
    at.run.given = at.run.sample != 0;
    *p = at;
    return IMREC_OK;
}

static enum imrec_status take_all(const struct json_value *root, const struct position_order *order,
                                  uint64_t windows, struct place *place, bool *own,
                                  struct imrec_error *err)
{
    uint64_t version = 0;
    IMREC_TRY(take_number(root, "version", &version, err));
    if (version != POSITION_VERSION && version != POSITION_OF_JOB)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "position: it has version %" PRIu64 ", this library reads %d and %d",
                          version, POSITION_VERSION, POSITION_OF_JOB);
    if (order->job != (version == POSITION_OF_JOB))
        return IMREC_REFUSE(err, "position: it was taken with order=%s, this iterator has order=%s",
                            order_word(!order->job), order_word(order->job));
    *own = true;
    IMREC_TRY(check_order(root, order, own, err));
    if (order->job)
        return take_job_place(root, order, place, err);
    return take_place(root, *own ? windows : UINT64_MAX, place, err);
}

static enum imrec_status parse(const char *text, struct json_value **root, struct imrec_error *err)
{
    const struct json_input in = {
        .name = "position",
        .text = {(const uint8_t *)text, strnlen(text, POSITION_MAX_BYTES + 1)},
        .max_bytes = POSITION_MAX_BYTES,
        .given = true,
    };
    return json_read(&in, root, err);
}

enum imrec_status position_read(const char *text, const struct position_order *order,
                                uint64_t windows, struct place *place, bool *own,
                                struct imrec_error *err)
{
    struct json_value *root;
    IMREC_TRY(parse(text, &root, err));
    const enum imrec_status st = take_all(root, order, windows, place, own, err);
    json_read_free(root);
    return st;
}

bool position_indexed(const char *text, bool *indexed)
{
    uint64_t v = 0;
    struct json_value *root;
    const bool says = parse(text, &root, NULL) == IMREC_OK &&
                      take_number(root, "indexed", &v, NULL) == IMREC_OK && v <= 1;
    *indexed = v != 0;
    json_read_free(root);
    return says;
}
