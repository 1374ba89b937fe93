/* im2rec/reshape/reshape.c - imrec_reshape(): records of some sets into another set. */
#include "im2rec/reshape/reshape.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sized.h"
#include "dataset/given_fields.h"
#include "dataset/transfer/sample_files.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_fields.h"
#include "im2rec/item/budget.h"
#include "im2rec/reshape/label_lines.h"
#include "im2rec/reshape/set_out.h"
#include "im2rec/reshape/source_sets.h"
#include "im2rec/reshape/tile_tables.h"
#include "im2rec/reshape/tiling.h"
#include "im2rec/set/set_files.h"
#include "im2rec/shard/shard_kinds.h"
#include "storage/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX     ((size_t)1 << 29)
#define CLASS_FILE_MAX ((size_t)1 << 30)
#define TELL_EVERY     1024 /* records */

struct reshape {
    const struct reshape_job *job;
    const struct imrec_reshape_options *o;
    struct imrec_reshape_result *result;
    struct source_sets in;
    struct set_out out;
    struct label_lines labels;
    struct class_list classes; /* that were given */
    uint64_t place;            /* records of the sources so far, those that are lost too */
    uint64_t total;            /* records of the sources */
    uint64_t wanted, taken;    /* that the draw takes, and has taken */
    uint64_t *ids;             /* of what was written */
    uint64_t id_room;
    struct buf record;
    struct imrec_field *fields; /* of a record that gets its header here */
    uint64_t field_room;
    struct sample_names names; /* of a tar's sample */
    size_t last_shard;
    bool keeps_shards;
    bool samples;
    char name[64];             /* of a record that has none */
    struct jpeg_tables tables; /* that JPEGs share, with shared_tables */
    char tables_text[JPEG_TABLES_TEXT];
};

void imrec_reshape_options_init_sized(struct imrec_reshape_options *o, size_t size)
{
    const struct imrec_reshape_options defaults = {.fraction = -1};
    sized_init(o, size, &defaults, sizeof(defaults));
}

/* ---- which records ------------------------------------------------------------------------ */

/* Selection sampling: the n-th record is taken with (those still wanted) of (those still to
 * come), so that the sum comes out; a function of seed and n. */
static bool drawn(struct reshape *r, uint64_t n)
{
    const struct rng_key key = {(uint64_t)r->o->seed, 0};
    if (!r->samples)
        return true;
    const uint64_t left = r->total > n ? r->total - n : 1;
    const bool take =
        rng_below(rng_block(key, n, 0, 1, RNG_PACKING).v[0], left) < r->wanted - r->taken;
    r->taken += take;
    return take != r->o->rest;
}

/* The labels of the record's line; false: the record is dropped. */
static enum imrec_status relabel(struct reshape *r, const struct imrec_record *in,
                                 struct set_out_record *to, bool *keep, struct imrec_error *err)
{
    *keep = true;
    if (r->o->labels == NULL)
        return IMREC_OK;
    struct label_line *line = label_lines_find(&r->labels, in->id);
    if (line != NULL) {
        line->used = true;
        to->labels = r->labels.labels + line->first;
        to->label_count = line->count;
        r->result->relabelled++;
        return IMREC_OK;
    }
    r->result->unlisted++;
    *keep = r->o->unlisted != IMREC_UNLISTED_DROP;
    if (r->o->unlisted != IMREC_UNLISTED_STOP)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_DATA, in->offset,
                          "%s has no line of the id %" PRIu64 " (record at byte %" PRIu64
                          " of %s); unlisted=keep or drop continues",
                          r->o->labels, in->id, in->offset, in->uri);
}

static enum imrec_status note_id(struct reshape *r, uint64_t id, struct imrec_error *err)
{
    const size_t n = (size_t)r->result->written;
    if (r->o->renumber)
        return IMREC_OK;
    if (!IMREC_GROW(r->ids, r->id_room, n + 1))
        return IMREC_NO_MEMORY(err, "no memory for %zu ids", n + 1);
    r->ids[n] = id;
    return IMREC_OK;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum imrec_status check_ids(struct reshape *r, struct imrec_error *err)
{
    const size_t n = r->o->renumber ? 0 : (size_t)r->result->written;
    if (n != 0)
        qsort(r->ids, n, sizeof(*r->ids), by_value);
    for (size_t i = 1; i < n; i++)
        if (r->ids[i] == r->ids[i - 1])
            return imrec_fail(err, IMREC_ERR_DATA,
                              "two records have the id %" PRIu64 "; renumber gives new ids",
                              r->ids[i]);
    return IMREC_OK;
}

/* ---- one record ----------------------------------------------------------------------------- */

/* Records of RecordIO; those of other kinds get their header here. */
static bool has_header(const struct reshape *r)
{
    return r->in.reader->walk.kind->side_files;
}

static bool is_called_mask(const struct imrec_field *f)
{
    return f->name_bytes == sizeof(RECORD_FIELD_MASK) - 1 &&
           memcmp(f->name, RECORD_FIELD_MASK, f->name_bytes) == 0;
}

/* Fields and mask, which is a field of its name where there are others: the one that it is already,
 * else the last one. */
static enum imrec_status
append_fields(struct reshape *r, const struct imrec_record *in, struct imrec_error *err)
{
    uint32_t n = 0;
    bool listed = in->mask == NULL;
    if (!IMREC_GROW(r->fields, r->field_room, (uint64_t)in->field_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the fields of a record");
    for (uint32_t i = 0; i < in->field_count; i++) {
        const struct imrec_field *f = &in->fields[i];
        const bool is_mask = in->mask != NULL && is_called_mask(f);
        if (is_mask && f->bytes != in->mask)
            continue;
        listed |= is_mask;
        r->fields[n++] = *f;
    }
    if (n == 0)
        return in->mask == NULL
                   ? IMREC_OK
                   : given_mask_append(&r->record, (struct bytes){in->mask, in->mask_size}, err);
    if (!listed)
        r->fields[n++] = (struct imrec_field){RECORD_FIELD_MASK, sizeof(RECORD_FIELD_MASK) - 1,
                                              in->mask, in->mask_size, IMREC_FIELD_BYTES};
    return given_fields_append(&r->record, r->fields, n, err);
}

/* What follows the header: of a kind that has none the image and its fields, a tar's key among
 * them, else all that there is, fields and mask too. */
static enum imrec_status
append_rest(struct reshape *r, const struct imrec_record *in, struct imrec_error *err)
{
    if (!has_header(r)) {
        struct imrec_record named = *in;
        IMREC_TRY(sample_names_add(&r->names, r->in.reader->walk.kind, &named, err));
        IMREC_TRY(buf_append(&r->record, in->image, in->image_size, err));
        return append_fields(r, &named, err);
    }
    const uint8_t *image = in->image, *end = (const uint8_t *)in->data + in->size;
    return buf_append(&r->record, image, (size_t)(end - image), err);
}

/* The record with its new header: its own bytes where nothing changes. *image_at: where the image
 * is. */
static enum imrec_status record_of(struct reshape *r, const struct imrec_record *in,
                                   struct set_out_record *to, size_t *image_at,
                                   struct imrec_error *err)
{
    to->record = (struct bytes){in->data, in->size};
    const bool as_stored = to->labels == in->labels && r->in.as.label_offset == 0;
    if (as_stored && to->id == in->id && has_header(r)) {
        *image_at = (size_t)((const uint8_t *)in->image - (const uint8_t *)in->data);
        if (!checked_framed(r->in.reader, &to->framed, &to->crc))
            to->framed = (struct bytes){0};
        return IMREC_OK;
    }
    r->record.n = 0;
    IMREC_TRY(
        image_record_head(&r->record, to->labels, to->label_count, false, to->id, in->id2, err));
    *image_at = r->record.n;
    IMREC_TRY(append_rest(r, in, err));
    to->record = (struct bytes){r->record.p, r->record.n};
    return IMREC_OK;
}

/* What becomes of a record of the sources; *keep false: nothing. `room` holds its name. */
static enum imrec_status prepare(struct reshape *r, const struct imrec_record *in, char room[64],
                                 struct tiling_record *out, bool *keep, struct imrec_error *err)
{
    static const float none; /* what a header without a label holds */
    struct set_out_record *to = &out->to;
    *to =
        (struct set_out_record){.id = in->id, .labels = in->labels, .label_count = in->label_count};
    if (to->label_count == 0) {
        to->labels = &none;
        to->label_count = 1;
    }
    IMREC_TRY(relabel(r, in, to, keep, err));
    if (!*keep)
        return IMREC_OK;
    to->path = source_sets_path(&r->in, in, room);
    if (r->o->renumber)
        to->id = r->result->written;
    else if (r->job->id_base != 0 && out->shard >= r->job->id_base_from)
        to->id += r->job->id_base;
    IMREC_TRY(record_of(r, in, to, &out->image_at, err));
    out->image_size = in->image_size;
    IMREC_TRY(note_id(r, to->id, err));
    r->result->written++;
    return IMREC_OK;
}

static enum imrec_status
put(struct reshape *r, const struct tiling_record *record, struct imrec_error *err)
{
    for (; r->keeps_shards && r->last_shard < record->shard; r->last_shard++)
        IMREC_TRY(set_out_end_shard(&r->out, err));
    return set_out_put(&r->out, &record->to, err);
}

static enum imrec_status tell(struct reshape *r, struct imrec_error *err)
{
    IMREC_TRY(stop_check(r->job->stop, err));
    const struct imrec_progress p = {.done = r->result->read, .bytes = r->result->bytes};
    if (r->o->progress == NULL || r->result->read % TELL_EVERY != 0 ||
        r->o->progress(r->o->user, &p))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "ended by its caller after %llu records",
                      (unsigned long long)p.done);
}

/* Damage, of which *err tells: the end, or lost records that keep their places in a draw. */
static enum imrec_status leave_out(struct reshape *r, struct imrec_error *err)
{
    uint64_t records;
    struct imrec_error why;
    const struct imrec_finding *f = source_sets_found(&r->in, &records);
    if (r->o->on_error == IMREC_ON_ERROR_STOP) {
        if (err == NULL)
            return IMREC_ERR_DATA;
        why = *err;
        imrec_error_at(err, IMREC_ERR_DATA, f->begin, "%.400s%s", why.message,
                       r->job->replaces ? "; imrec repair keeps the intact records"
                                        : "; on_error=skip leaves it out");
        imrec_error_same(err, &why);
        return IMREC_ERR_DATA;
    }
    r->result->left_out++;
    if (r->o->finding != NULL)
        r->o->finding(r->o->user, f);
    while (records-- != 0)
        (void)drawn(r, r->place++);
    return IMREC_OK;
}

/* The next record of the new set; its memory lasts until the one after. IMREC_END: all are read. */
static enum imrec_status
next_record(struct reshape *r, struct tiling_record *out, struct imrec_error *err)
{
    for (;;) {
        struct imrec_record in;
        bool keep = false;
        enum imrec_status st = source_sets_next(&r->in, &in, &out->shard, err);
        if (st == IMREC_ERR_DATA) {
            IMREC_TRY(leave_out(r, err));
            continue;
        }
        if (st != IMREC_OK)
            return st;
        r->result->read++;
        r->result->bytes += in.size;
        if (drawn(r, r->place++))
            IMREC_TRY(prepare(r, &in, r->name, out, &keep, err));
        IMREC_TRY(tell(r, err));
        if (keep)
            return IMREC_OK;
    }
}

static enum imrec_status
next_to_tile(void *context, struct tiling_record *out, struct imrec_error *err)
{
    return next_record(context, out, err);
}

static enum imrec_status
put_tiled(void *context, const struct tiling_record *record, bool tiled, struct imrec_error *err)
{
    struct reshape *r = context;
    IMREC_TRY(put(r, record, err));
    r->result->tiled += tiled;
    return IMREC_OK;
}

#define TILING_MEMORY ((uint64_t)1 << 30) /* as im2rec's default */

static enum imrec_status make_tables(struct reshape *r, struct imrec_error *err)
{
    if (!r->o->shared_tables)
        return IMREC_OK;
    IMREC_TRY(tile_tables_sample(r->job, r->o, budget_most(TILING_MEMORY), &r->tables, err));
    jpeg_tables_text(&r->tables, r->tables_text);
    return IMREC_OK;
}

static enum imrec_status move_all(struct reshape *r, struct imrec_error *err)
{
    struct tiling_record record;
    enum imrec_status st;
    if (r->o->tile)
        return tiling_run(&(struct tiling){.context = r,
                                           .next = next_to_tile,
                                           .put = put_tiled,
                                           .threads = r->o->threads,
                                           .memory = TILING_MEMORY,
                                           .tables = r->o->shared_tables ? &r->tables : NULL,
                                           .stop = r->job->stop},
                          err);
    while ((st = next_record(r, &record, err)) == IMREC_OK)
        IMREC_TRY(put(r, &record, err));
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status take_all(struct reshape *r, struct imrec_error *err)
{
    IMREC_TRY(make_tables(r, err));
    IMREC_TRY(move_all(r, err));
    r->result->unchecked = source_sets_unchecked(&r->in);
    r->result->unused = label_lines_unused(&r->labels);
    r->result->metadata = r->in.metadata;
    if (r->result->written == 0)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "of %" PRIu64 " records none is left: no set is written",
                          r->result->read);
    return check_ids(r, err);
}

/* ---- a run -------------------------------------------------------------------------------- */

static enum imrec_status check(const struct imrec_reshape_options *o, struct imrec_error *err)
{
    const char *why = NULL;
    if (o->fraction > 1)
        why = "fraction must be from 0 to 1";
    else if (o->fraction >= 0 && o->sample != 0)
        why = "fraction and a number of records say the same twice: give one of them";
    else if (o->shards != 0 && o->shard_size != 0)
        why = "shards and shard_size say the same twice: give one of them";
    else if (o->shards < 0 || o->shards > MANIFEST_MAX_SHARDS || o->shard_size < 0)
        why = "shards must be from 0 to 1048576, shard_size not negative";
    else if (o->shared_tables && !o->tile)
        why = "shared_tables is about JPEGs that are coded again: it needs tile";
    return why == NULL ? IMREC_OK : IMREC_REFUSE(err, "%s", why);
}

static enum imrec_status plan_sample(struct reshape *r, struct imrec_error *err)
{
    const struct imrec_reshape_options *o = r->o;
    r->samples = o->fraction >= 0 || o->sample != 0;
    if (!r->samples && o->shards == 0)
        return IMREC_OK; /* nobody asks how many there are */
    IMREC_TRY(source_sets_count(&r->in, &r->total, err));
    r->wanted = o->fraction >= 0 ? (uint64_t)llround(o->fraction * (double)r->total) : o->sample;
    if (r->wanted <= r->total)
        return IMREC_OK;
    return IMREC_REFUSE(err, "%" PRIu64 " records are wanted, but there are %" PRIu64, r->wanted,
                        r->total);
}

static enum imrec_status load_given(struct reshape *r, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    if (r->o->labels != NULL)
        IMREC_TRY(label_lines_load(r->o->labels, &r->labels, err));
    if (r->o->classes == NULL || r->o->classes[0] == '\0')
        return IMREC_OK;
    IMREC_TRY(source_load(r->o->classes, CLASS_FILE_MAX, &text, &n, err));
    const enum imrec_status st =
        class_list_read(r->o->classes, (struct bytes){text, n}, &r->classes, err);
    imrec_free(text);
    return st;
}

static enum imrec_status begin(struct reshape *r, struct imrec_error *err)
{
    const struct reshape_job *j = r->job;
    const enum source_classes want = r->o->classes != NULL ? SOURCE_CLASSES_NONE
                                     : j->new_classes      ? SOURCE_CLASSES_GROW
                                                           : SOURCE_CLASSES_SAME;
    const struct shard_kind *named = shard_kind_of_name(j->out);
    IMREC_TRY(check(r->o, err));
    if (named != NULL && named->bare)
        return IMREC_REFUSE(
            err, "%s: the new set is one of records, also of images in %ss; name it .rec", j->out,
            named->file);
    IMREC_TRY(load_given(r, err));
    IMREC_TRY(source_sets_open(j->uris, j->count, r->o->reader, want, &r->in, err));
    r->in.warned = j->warned;
    if (!j->replaces && source_sets_has(&r->in, j->out))
        return IMREC_REFUSE(err, "%s is among the sources; choose another name for the new set",
                            j->out);
    r->keeps_shards = j->keep_shards ||
                      (r->o->tile && r->o->shards == 0 && r->o->shard_size == 0 && r->in.count > 1);
    IMREC_TRY(plan_sample(r, err));
    const uint64_t drawn_records = r->o->rest ? r->total - r->wanted : r->wanted;
    const struct set_out_options to = {
        .shards = r->o->shards,
        .shard_size = r->o->shard_size,
        .expected = r->samples ? drawn_records : r->total,
        .numbered = r->keeps_shards,
        .force = r->o->force,
        .replaces = j->replaces,
        .stop = j->stop,
    };
    return set_out_open(j->out, &to, &r->out, err);
}

enum { OWN_OPTIONS = 4 };

/* What the manifest says of the new set. */
static struct set_out_card card_of(const struct reshape *r, struct manifest_option own[OWN_OPTIONS])
{
    const struct reshape_job *j = r->job;
    struct set_out_card card = {j->options, j->option_count, j->skipped + r->result->left_out};
    if (!r->o->shared_tables)
        return card;
    size_t n = 0;
    for (; n < j->option_count && n < OWN_OPTIONS - 2; n++)
        own[n] = j->options[n];
    own[n++] = (struct manifest_option){"shared_tables", "1"};
    own[n++] = (struct manifest_option){SET_TABLES, r->tables_text};
    card.options = own;
    card.option_count = n;
    return card;
}

static enum imrec_status commit(struct reshape *r, struct imrec_error *err)
{
    struct manifest_option own[OWN_OPTIONS];
    const struct set_out_card card = card_of(r, own);
    const struct class_list *classes = r->classes.count != 0 ? &r->classes
                                       : r->in.has_classes   ? &r->in.classes
                                                             : NULL;
    IMREC_TRY(set_out_commit(&r->out, classes, &card, err));
    r->result->shards = r->out.done_count;
    r->result->bytes = 0;
    for (uint64_t k = 0; k < r->out.done_count; k++)
        r->result->bytes += r->out.done[k].rec_bytes;
    if (r->result->metadata != 0)
        imrec_log(IMREC_LOG_WARNING,
                  "%" PRIu64
                  " header and identity records are not copied to %.200s: the keys that they "
                  "name have changed there; the labels still name the identities",
                  r->result->metadata, r->job->out);
    return IMREC_OK;
}

enum imrec_status
reshape_run(const struct reshape_job *j, struct imrec_reshape_result *out, struct imrec_error *err)
{
    struct imrec_reshape_options o;
    struct reshape r = {.job = j,
                        .o = &o,
                        .result = out,
                        .record = BUF_INIT(RECORD_MAX),
                        .names = SAMPLE_NAMES_INIT};
    *out = (struct imrec_reshape_result){0};
    imrec_reshape_options_init(&o);
    IMREC_TRY(sized_copy(&o, sizeof(o), j->o, "imrec_reshape_options_init", err));
    enum imrec_status st = begin(&r, err);
    if (st == IMREC_OK)
        st = take_all(&r, err);
    if (st == IMREC_OK)
        st = commit(&r, err);
    set_out_close(&r.out);
    source_sets_close(&r.in);
    label_lines_free(&r.labels);
    class_list_free(&r.classes);
    buf_free(&r.record);
    sample_names_free(&r.names);
    IMREC_FREE(r.ids, r.fields);
    return st;
}

enum imrec_status imrec_reshape(const char *const *uris, size_t count, const char *out,
                                const char *command, const struct imrec_reshape_options *o,
                                struct imrec_reshape_result *result, struct imrec_error *err)
{
    struct imrec_reshape_options given;
    imrec_reshape_options_init(&given);
    IMREC_TRY(sized_copy(&given, sizeof(given), o, "imrec_reshape_options_init", err));
    const struct manifest_option options[] = {{"command", command}, {"tile", "yes"}};
    const struct reshape_job j = {.uris = uris,
                                  .count = count,
                                  .out = out,
                                  .o = o,
                                  .options = options,
                                  .option_count = given.tile ? 2 : 1};
    return reshape_run(&j, result, err);
}
