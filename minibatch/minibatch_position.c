/* minibatch/minibatch_position.c - the position of a source, as JSON.
 * docs/formats/minibatch_position.md is the specification. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/fnv.h"
#include "formats/json_read.h"
#include "formats/json_write.h"
#include "minibatch/source_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 1, MAX_BYTES = 1 << 24, MAX_SLOTS = 1 << 20 };
#define NOMINAL    "minibatchSourcePosition"
#define MAX_NUMBER ((int64_t)1 << 62) /* what is counted on from there fits */

/* Options that shape the order; a position requires equal ones. */
struct field {
    const char *name;
    int64_t value;
};
enum { FIELDS = 9 };

static void take_fields(const struct imrec_minibatch_source *s, struct field out[FIELDS])
{
    const struct imrec_minibatch_options *o = &s->options.o;
    const bool local = o->rank_mode == IMREC_RANK_LOCAL; /* else any rank of any number of them */
    const struct field all[FIELDS] = {
        {"randomize", o->randomize},
        {"randomization_seed", o->randomize ? o->randomization_seed : 0},
        {"randomization_window", o->randomize ? o->randomization_window : 0},
        {"sample_based_randomization_window", o->randomize && o->sample_based_randomization_window},
        {"truncation_length", o->truncation_length},
        {"missing_ids", o->missing_ids},
        {"rank_mode", o->rank_mode},
        {"num_ranks", local ? o->num_ranks : 1},
        {"rank", local ? o->rank : 0},
    };
    memcpy(out, all, sizeof(all));
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    uint8_t bytes[8];
    store_le64(bytes, v);
    return fnv1a(h, bytes, sizeof(bytes));
}

void minibatch_fingerprint(const struct imrec_minibatch_source *s, char out[17])
{
    uint64_t h = FNV_START;
    for (uint32_t k = 0; k < s->joint.corpora; k++) {
        const struct corpus *c = s->joint.corpus[k];
        h = mix(h, c->text ? (uint64_t)c->o.chunk_size_in_bytes : 0);
        for (uint32_t i = 0; i < c->files; i++)
            h = mix(h, c->file[i].in->size);
        for (uint32_t i = 0; i < c->streams; i++) {
            h = fnv1a(h, c->stream[i].alias, strlen(c->stream[i].alias) + 1);
            h = mix(h, c->stream[i].defines_mb_size);
        }
        h = mix(h, c->sequences);
        h = mix(h, c->samples);
    }
    (void)snprintf(out, 17, "%016" PRIx64, h);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void put_slots(struct json_writer *w, const struct minibatch_place *p)
{
    json_write_array(w, "slots", JSON_SPACED);
    for (uint64_t i = 0; i < p->helds; i++) {
        const struct truncated_held *h = &p->held[i];
        json_write_array(w, NULL, JSON_SPACED);
        json_write_u64(w, NULL, h->slot);
        json_write_u64(w, NULL, h->sweep);
        json_write_u64(w, NULL, h->number);
        json_write_u64(w, NULL, h->done);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_all(struct json_writer *w, const struct imrec_minibatch_source *s,
                    const struct minibatch_place *p)
{
    struct field fields[FIELDS];
    take_fields(s, fields);
    json_write_object(w, NULL, JSON_SPACED);
    json_write_u64(w, "version", VERSION);
    json_write_text(w, "data", s->fingerprint);
    for (size_t i = 0; i < FIELDS; i++)
        json_write_i64(w, fields[i].name, fields[i].value);
    json_write_u64(w, "position", p->mark.position);
    json_write_u64(w, "sweep", p->mark.sweep);
    json_write_u64(w, "sequence", p->mark.number);
    json_write_u64(w, "labels", p->mark.labels);
    json_write_u64(w, "epoch", p->mark.epoch);
    json_write_u64(w, "epoch_labels", p->mark.epoch_labels);
    put_slots(w, p);
    json_write_end(w);
}

enum imrec_status minibatch_position_write(const struct imrec_minibatch_source *s,
                                           const struct minibatch_place *place, char **text,
                                           struct imrec_error *err)
{
    struct buf b = BUF_INIT(MAX_BYTES);
    struct json_writer w = {.out = &b, .err = err};
    put_all(&w, s, place);
    if (w.status == IMREC_OK)
        w.status = buf_append(&b, "", 1, err);
    if (w.status != IMREC_OK)
        buf_free(&b);
    *text = (char *)b.p;
    return w.status;
}

/* ---- reading ----------------------------------------------------------------------------- */

static enum imrec_status wrong(struct imrec_error *err, const char *key, const char *want)
{
    return IMREC_REFUSE(err, "position: \"%s\" must be %s", key, want);
}

static enum imrec_status
take(const struct json_value *root, const char *key, uint64_t *out, struct imrec_error *err)
{
    int64_t v;
    if (!json_read_i64(json_read_member(root, key), &v) || v < 0 || v > MAX_NUMBER)
        return wrong(err, key, "a whole number from 0 to 2^62");
    *out = (uint64_t)v;
    return IMREC_OK;
}

static enum imrec_status check(const struct imrec_minibatch_source *s,
                               const struct json_value *root, struct imrec_error *err)
{
    struct field fields[FIELDS];
    const char *data = json_read_text(json_read_member(root, "data"));
    if (data == NULL)
        return wrong(err, "data", "a fingerprint of 16 hex digits");
    if (strcmp(data, s->fingerprint) != 0)
        return IMREC_REFUSE(err,
                            "position: it is of other data or streams (fingerprint %.16s, these "
                            "files have %s)",
                            data, s->fingerprint);
    take_fields(s, fields);
    for (size_t i = 0; i < FIELDS; i++) {
        int64_t v;
        if (!json_read_i64(json_read_member(root, fields[i].name), &v))
            return wrong(err, fields[i].name, "a whole number");
        if (v != fields[i].value)
            return IMREC_REFUSE(
                err, "position: it was taken with %s=%" PRId64 ", this source has %" PRId64,
                fields[i].name, v, fields[i].value);
    }
    return IMREC_OK;
}

/* Positions in it are numbers that a position can hold. */
static bool is_sweep(const struct imrec_minibatch_source *s, uint64_t sweep)
{
    return sweep <= (uint64_t)MAX_NUMBER / timeline_sweep_samples(s->line);
}

static enum imrec_status take_slot(const struct imrec_minibatch_source *s,
                                   const struct json_value *row, struct truncated_held *out,
                                   struct imrec_error *err)
{
    const uint64_t sequences = timeline_sweep_sequences(s->line);
    int64_t v[4];
    for (size_t i = 0; i < 4; i++)
        if (!json_read_i64(json_read_element(row, i), &v[i]) || v[i] < 0 ||
            (i == 1 && !is_sweep(s, (uint64_t)v[i])) || (i == 0 && v[i] >= MAX_SLOTS) ||
            (i == 2 && (uint64_t)v[i] >= sequences) || (i == 3 && v[i] > UINT32_MAX))
            return wrong(err, "slots", "rows of slot, sweep, sequence and samples given");
    *out = (struct truncated_held){(uint32_t)v[0], (uint32_t)v[3], (uint64_t)v[1], (uint64_t)v[2]};
    return IMREC_OK;
}

static enum imrec_status take_slots(const struct imrec_minibatch_source *s,
                                    const struct json_value *root, struct minibatch_place *out,
                                    struct imrec_error *err)
{
    const struct json_value *rows = json_read_member(root, "slots");
    if (json_read_kind(rows) != JSON_KIND_ARRAY)
        return wrong(err, "slots", "an array");
    out->helds = json_read_count(rows);
    out->held_room = out->helds + 1;
    out->held = imrec_zalloc(out->held_room, sizeof(*out->held));
    if (out->held == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a position");
    for (size_t i = 0; i < out->helds; i++)
        IMREC_TRY(take_slot(s, json_read_element(rows, i), &out->held[i], err));
    return IMREC_OK;
}

/* CNTK's own: {"minibatchSourcePosition": 1280}, also inside of what a trainer saved. *found: how
 * many there are; *in: the object with the last of them. */
static void
find_nominal(const struct json_value *value, const struct json_value **in, uint64_t *found)
{
    void *at = NULL;
    if (json_read_member(value, NOMINAL) != NULL) {
        *in = value;
        ++*found;
    }
    for (const struct json_value *member; (member = json_read_next_member(value, &at)) != NULL;)
        find_nominal(member, in, found);
}

static enum imrec_status take_nominal(const struct imrec_minibatch_source *s,
                                      const struct json_value *root, struct minibatch_place *out,
                                      struct imrec_error *err)
{
    const struct json_value *in = NULL;
    uint64_t found = 0;
    find_nominal(root, &in, &found);
    if (found == 0)
        return IMREC_REFUSE(err,
                            "position: it has neither \"version\", as one of this library, nor "
                            "\"" NOMINAL "\", as one of CNTK's");
    if (found > 1)
        return IMREC_REFUSE(err,
                            "position: it has \"" NOMINAL "\" %" PRIu64
                            " times; take the dictionary of one source",
                            found);
    out->nominal = true;
    IMREC_TRY(take(in, NOMINAL, &out->mark.position, err));
    return is_sweep(s, out->mark.position / timeline_sweep_samples(s->line) + 1)
               ? IMREC_OK
               : wrong(err, NOMINAL, "before sample 2^62");
}

static enum imrec_status take_all(struct imrec_minibatch_source *s, const struct json_value *root,
                                  struct minibatch_place *out, struct imrec_error *err)
{
    uint64_t version = 0;
    if (json_read_member(root, "version") == NULL)
        return take_nominal(s, root, out, err);
    IMREC_TRY(take(root, "version", &version, err));
    if (version != VERSION)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "position: it has version %" PRIu64 ", this library reads %d", version,
                          VERSION);
    IMREC_TRY(check(s, root, err));
    IMREC_TRY(take(root, "position", &out->mark.position, err));
    IMREC_TRY(take(root, "sweep", &out->mark.sweep, err));
    IMREC_TRY(take(root, "sequence", &out->mark.number, err));
    IMREC_TRY(take(root, "labels", &out->mark.labels, err));
    IMREC_TRY(take(root, "epoch", &out->mark.epoch, err));
    IMREC_TRY(take(root, "epoch_labels", &out->mark.epoch_labels, err));
    if (out->mark.number >= timeline_sweep_sequences(s->line))
        return IMREC_REFUSE(err, "position: \"sequence\" is %" PRIu64 ", a sweep has %" PRIu64,
                            out->mark.number, timeline_sweep_sequences(s->line));
    if (!is_sweep(s, out->mark.sweep))
        return wrong(err, "sweep", "one that begins before sample 2^62");
    if (out->mark.epoch_labels > out->mark.labels)
        return wrong(err, "epoch_labels", "at most \"labels\"");
    return take_slots(s, root, out, err);
}

enum imrec_status minibatch_position_read(struct imrec_minibatch_source *s, const char *text,
                                          struct minibatch_place *out, struct imrec_error *err)
{
    const struct json_input in = {
        .name = "position",
        .text = {(const uint8_t *)text, strnlen(text, MAX_BYTES + 1)},
        .max_bytes = MAX_BYTES,
        .given = true,
    };
    struct json_value *root;
    *out = (struct minibatch_place){0};
    IMREC_TRY(json_read(&in, &root, err));
    const enum imrec_status st = take_all(s, root, out, err);
    json_read_free(root);
    return st;
}
