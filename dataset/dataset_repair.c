/* dataset/dataset_repair.c - every intact record of damaged shards into one new shard.
 *
 * A shard with checksums is read twice: what a record is, is known only when all have been matched.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sized.h"
#include "container/metadata.h"
#include "dataset/dataset_check.h"
#include "dataset/dataset_index.h"
#include "dataset/dataset_walk.h"
#include "dataset/record_reader.h"
#include "dataset/record_writer.h"
#include "dataset/repair_match.h"
#include "dataset/repair_walk.h"
#include "formats/crc32c.h"
#include "formats/recordio/image_record.h"
#include "formats/set/class_list.h"

#include <inttypes.h>
#include <string.h>

enum { RECORDS_A_CALL = 256 }; /* of the progress callback */
#define RECORD_MAX ((size_t)1 << 29)

struct repair {
    struct imrec_repair_options o;
    struct imrec_repair_result *result;
    struct dataset_walk set; /* its shards, and that they are no CBF files */
    struct imrec_progress at;
    uint64_t read;
    struct imrec_writer *writer;
    struct codec *codec; /* made when the first image is looked at */
    struct buf scratch;  /* a record whose parts are joined */
    /* the shard being read */
    uint32_t shard;
    struct repair_walk walk;
    uint8_t *file; /* its checksums */
    bool summed;   /* there are some, and they are asked */
    struct repair_match match;
    struct shard_index index; /* for the ids of what is gone */
};

struct candidate { /* a readable record */
    const struct repair_item *item;
    struct bytes record;
    struct image_record image; /* where is_image */
    bool is_image;
    bool is_metadata; /* and no sample: there is nothing to decode */
    uint32_t crc;
    enum imrec_finding_kind kind; /* why it is dropped ... */
    struct imrec_error why;       /* ... in words */
};

void imrec_repair_options_init_sized(struct imrec_repair_options *o, size_t size)
{
    const struct imrec_repair_options defaults = {0};
    sized_init(o, size, &defaults, sizeof(defaults));
}

/* The id that the index has at a place, or `otherwise`. */
static uint64_t id_at(const struct repair *r, uint64_t offset, uint64_t otherwise)
{
    uint64_t n;
    const struct shard_index_entry *e = shard_index_in(&r->index, offset, offset + 1, &n);
    return e != NULL ? e->key : otherwise;
}

static void tell(const struct repair *r, const struct repair_item *i, enum imrec_finding_kind kind,
                 uint64_t id, const struct imrec_error *why)
{
    const struct imrec_finding f = {.kind = kind,
                                    .uri = r->set.files.shards.uri[r->shard],
                                    .shard = r->shard,
                                    .begin = i->begin,
                                    .end = i->end,
                                    .id = id,
                                    .reason = why->message};
    if (r->o.finding != NULL)
        r->o.finding(r->o.user, &f);
}

/* Also of the first reading, which takes as long. */
static enum imrec_status show(struct repair *r, struct imrec_error *err)
{
    if (r->read++ % RECORDS_A_CALL != 0 || r->o.progress == NULL ||
        r->o.progress(r->o.user, &r->at))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CANCELLED, "ended by its caller after %" PRIu64 " records",
                      r->at.done);
}

/* ---- one record --------------------------------------------------------------------------- */

/* Does its image decode? `clean`: without a warning. */
static enum imrec_status
decodes(struct repair *r, struct candidate *c, bool clean, bool *yes, struct imrec_error *err)
{
    uint32_t warnings = 0;
    *yes = false;
    if (r->codec == NULL)
        IMREC_TRY(codec_new(&r->codec, err));
    const enum imrec_status st = check_image(r->codec, c->image.image, (struct bytes){NULL, 0},
                                             CHECK_MAX_PIXELS, &warnings, &c->why);
    if (st == IMREC_ERR_NO_MEMORY)
        return imrec_fail(err, st, "%s", c->why.message);
    *yes = st == IMREC_OK && !(clean && warnings != 0);
    if (st == IMREC_OK && !*yes)
        (void)imrec_error_at(&c->why, IMREC_ERR_CORRUPT, c->item->begin,
                             "its image decodes with %u warnings only", warnings);
    return IMREC_OK;
}

/* A record without a checksum: kept only if its own structure proves it complete. */
static enum imrec_status
judge_unmatched(struct repair *r, struct candidate *c, bool *keep, struct imrec_error *err)
{
    static const char none[] = "no checksum is of this record";
    char why[sizeof(c->why.message)];
    *keep = false;
    c->kind = IMREC_FOUND_CHECKSUM;
    (void)imrec_error_at(&c->why, IMREC_ERR_CORRUPT, c->item->begin, "%s%s", none,
                         c->is_image ? "" : ", and it has no well-formed image record header");
    *keep = c->is_metadata && !r->o.drop_unmatched;
    if (*keep || !c->is_image || r->o.drop_unmatched)
        return IMREC_OK;
    IMREC_TRY(decodes(r, c, true, keep, err));
    if (*keep)
        return IMREC_OK;
    memcpy(why, c->why.message, sizeof(why));
    (void)imrec_error_at(&c->why, IMREC_ERR_CORRUPT, c->item->begin, "%s, and %.400s", none, why);
    return IMREC_OK;
}

/* Else c->kind and c->why say why not. */
static enum imrec_status
judge(struct repair *r, struct candidate *c, bool *keep, struct imrec_error *err)
{
    const enum match match =
        r->summed ? match_of(&r->match, c->item->begin, (uint32_t)c->item->framed.n, c->crc)
                  : MATCH_SAME;
    *keep = match == MATCH_SAME;
    c->kind = IMREC_FOUND_CHECKSUM;
    if (match == MATCH_NONE) {
        IMREC_TRY(judge_unmatched(r, c, keep, err));
        r->result->unmatched += *keep;
        return IMREC_OK;
    }
    if (!*keep) {
        (void)imrec_error_at(&c->why, IMREC_ERR_CORRUPT, c->item->begin, "%s",
                             match == MATCH_DIFFERS
                                 ? "the record differs from its checksum"
                                 : "the record's bytes were others a moment before");
        return IMREC_OK;
    }
    if (!r->o.decode || !c->is_image || c->is_metadata)
        return IMREC_OK;
    c->kind = IMREC_FOUND_IMAGE;
    return decodes(r, c, false, keep, err);
}

static enum imrec_status
keep_record(struct repair *r, const struct candidate *c, struct imrec_error *err)
{
    const bool by_id = r->o.keys == IMREC_KEYS_ID && c->is_image;
    IMREC_TRY(record_writer_put(r->writer, by_id ? c->image.id : r->result->kept, c->item->framed,
                                c->crc, err));
    r->result->kept++;
    r->result->metadata += c->is_metadata;
    r->result->kept_bytes += c->record.n;
    return IMREC_OK;
}

/* The index's word goes before that of a record whose bytes are others. */
static uint64_t id_of(struct repair *r, const struct candidate *c)
{
    struct checksum was;
    const uint64_t id = c->is_image ? c->image.id : 0;
    return r->summed && match_meant(&r->match, &was) ? id_at(r, was.offset, id) : id;
}

/* Bytes that are no record, by the id of the first that is gone and had its place there. */
static void tell_damage(struct repair *r, const struct repair_item *i)
{
    struct checksum gone;
    uint64_t id = 0;
    if (r->summed && match_gone(&r->match, i->begin, i->end, &gone))
        id = id_at(r, gone.offset, 0);
    r->result->damaged_ranges++;
    r->result->lost_bytes += i->end - i->begin;
    tell(r, i, IMREC_FOUND_DAMAGE, id, &i->why);
}

static enum imrec_status
take_record(struct repair *r, const struct repair_item *i, struct imrec_error *err)
{
    struct candidate c = {.item = i, .crc = crc32c(0, i->framed.p, i->framed.n)};
    bool keep;
    IMREC_TRY(recordio_copy(i->framed.p, &i->span, &r->scratch, &c.record, err));
    c.is_image = image_record_parse(c.record, &c.image, NULL) == IMREC_OK;
    c.is_metadata = metadata_at(&r->set.reader->container, r->shard, i->begin) != NULL;
    r->at.done++;
    IMREC_TRY(judge(r, &c, &keep, err));
    if (keep)
        return keep_record(r, &c, err);
    r->result->dropped++;
    tell(r, i, c.kind, id_of(r, &c), &c.why);
    return IMREC_OK;
}

/* ---- one shard ---------------------------------------------------------------------------- */

/* Reports lost records that no finding about their place has covered. */
static void tell_gone(struct repair *r)
{
    struct checksum gone = {0};
    struct imrec_error why;
    while (r->summed && match_gone(&r->match, gone.offset, UINT64_MAX, &gone)) {
        const struct repair_item item = {.begin = gone.offset,
                                         .end = gone.offset + gone.framed_bytes};
        (void)imrec_error_at(&why, IMREC_ERR_CORRUPT, gone.offset,
                             "the checksums have a record of these bytes of the shard as it was, "
                             "and none that is readable has its bytes");
        tell(r, &item, IMREC_FOUND_CHECKSUM, id_at(r, gone.offset, 0), &why);
    }
}

/* Matches all records of the shard with its checksums. */
static enum imrec_status survey(struct repair *r, struct imrec_error *err)
{
    struct repair_walk walk;
    struct repair_item i = {.step = WALK_MORE};
    IMREC_TRY(repair_walk_open(r->set.files.shards.uri[r->shard], &walk, err));
    enum imrec_status st = IMREC_OK;
    while (st == IMREC_OK && i.step != WALK_END) {
        st = repair_walk_next(&walk, &i, err);
        if (st == IMREC_OK && i.step == WALK_RECORD)
            st = match_look(&r->match, i.begin, (uint32_t)i.framed.n,
                            crc32c(0, i.framed.p, i.framed.n), err);
        if (st == IMREC_OK)
            st = show(r, err);
    }
    repair_walk_close(&walk);
    if (st == IMREC_OK)
        st = match_end(&r->match, err);
    r->result->missing += r->match.missing;
    return st;
}

/* A broken .crc is reported, and its valid entries are used. */
static enum imrec_status
open_sums(struct repair *r, const char *path, size_t n, struct imrec_error *err)
{
    struct checksums sums;
    struct imrec_error why;
    const struct bytes file = {r->file, n};
    const bool sound = checksums_open(path, file, &sums, &why) == IMREC_OK;
    if (!sound)
        tell(r, &(struct repair_item){.step = WALK_END}, IMREC_FOUND_CHECKSUM, 0, &why);
    r->summed = sound || checksums_salvage(file, &sums);
    return r->summed ? match_begin(&sums, !sound, &r->match, err) : IMREC_OK;
}

/* Ids are not said where the index cannot be read. */
static enum imrec_status load_index(struct repair *r, struct imrec_error *err)
{
    struct imrec_error why;
    const enum imrec_status st =
        shard_index_load(r->set.files.shards.uri[r->shard], &r->index, &why);
    if (st == IMREC_ERR_NO_MEMORY)
        return imrec_fail(err, st, "%s", why.message);
    if (st != IMREC_OK)
        imrec_log(IMREC_LOG_WARNING, "%s", why.message);
    return IMREC_OK;
}

static enum imrec_status load_sums(struct repair *r, struct imrec_error *err)
{
    char *path = NULL;
    size_t n = 0;
    r->summed = false;
    if (r->o.ignore_checksums)
        return IMREC_OK;
    enum imrec_status st =
        dataset_load(r->set.files.shards.uri[r->shard], SET_CHECKSUMS, &path, &r->file, &n, err);
    if (st == IMREC_OK && r->file != NULL)
        st = open_sums(r, path, n, err);
    imrec_free(path);
    if (st == IMREC_OK && r->summed)
        st = survey(r, err);
    if (st == IMREC_OK && r->match.missing != 0)
        st = load_index(r, err);
    return st;
}

static enum imrec_status take_shard(struct repair *r, struct imrec_error *err)
{
    struct repair_item i = {.step = WALK_MORE};
    IMREC_TRY(load_sums(r, err));
    IMREC_TRY(repair_walk_open(r->set.files.shards.uri[r->shard], &r->walk, err));
    for (;;) {
        IMREC_TRY(repair_walk_next(&r->walk, &i, err));
        if (i.step == WALK_END)
            break;
        r->at.bytes = r->set.files.begin[r->shard] + i.end;
        if (i.step == WALK_RECORD)
            IMREC_TRY(take_record(r, &i, err));
        else
            tell_damage(r, &i);
        IMREC_TRY(show(r, err));
    }
    tell_gone(r);
    return IMREC_OK;
}

static void close_shard(struct repair *r)
{
    repair_walk_close(&r->walk);
    match_free(&r->match);
    shard_index_free(&r->index);
    imrec_free(r->file);
    r->file = NULL;
}

/* ---- a run -------------------------------------------------------------------------------- */

static enum imrec_status take_all(struct repair *r, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    for (r->shard = 0; st == IMREC_OK && r->shard < r->set.files.shards.count; r->shard++) {
        st = take_shard(r, err);
        close_shard(r);
    }
    return st;
}

static enum imrec_status
check_names(const struct repair *r, const char *path, struct imrec_error *err)
{
    const struct uri_list *in = &r->set.files.shards;
    if (!r->set.kind->side_files)
        return IMREC_REFUSE(err,
                            "%.300s is a %s, and repair writes records; export gets its images out",
                            in->uri[0], r->set.kind->name);
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->uri[i], path) == 0)
            return IMREC_REFUSE(err, "%s is input and output; give the new shard another name",
                                path);
    return IMREC_OK;
}

/* ---- the class list ------------------------------------------------------------------------ */

struct class_file {
    char *path; /* where it is, or would be */
    uint8_t *text;
    size_t n;
};

static void free_class_file(struct class_file *f)
{
    IMREC_FREE(f->path, f->text);
    *f = (struct class_file){0};
}

/* One that is broken is reported, and as if it were not there. */
static enum imrec_status
load_classes(const char *shard, struct class_file *out, struct imrec_error *err)
{
    struct class_list list = {0};
    struct imrec_error why;
    IMREC_TRY(dataset_load(shard, SET_CLASSES, &out->path, &out->text, &out->n, err));
    if (out->text == NULL)
        return IMREC_OK;
    if (class_list_read(out->path, (struct bytes){out->text, out->n}, &list, &why) != IMREC_OK) {
        imrec_log(IMREC_LOG_WARNING, "%s; the class list is not copied", why.message);
        imrec_free(out->text);
        out->text = NULL;
        out->n = 0;
    }
    class_list_free(&list);
    return IMREC_OK;
}

static bool same_text(const struct class_file *a, const struct class_file *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->text, b->text, a->n) == 0);
}

/* Whether all shards have the class list of the first. */
static enum imrec_status share_classes(const struct repair *r, const struct class_file *first,
                                       bool *yes, struct imrec_error *err)
{
    const struct uri_list *in = &r->set.files.shards;
    *yes = true;
    for (size_t i = 1; *yes && i < in->count; i++) {
        struct class_file other = {.path = set_path(in->uri[i], SET_CLASSES)};
        const bool same_set = other.path != NULL && strcmp(other.path, first->path) == 0;
        free_class_file(&other);
        if (same_set)
            continue;
        const enum imrec_status st = load_classes(in->uri[i], &other, err);
        *yes = st == IMREC_OK && same_text(first, &other);
        free_class_file(&other);
        IMREC_TRY(st);
        if (!*yes)
            imrec_log(IMREC_LOG_WARNING,
                      "%.300s and %.300s have different class lists: none is copied", in->uri[0],
                      in->uri[i]);
    }
    return IMREC_OK;
}

/* The list next to the shards gets the new shard's name, unless its bytes are there already. */
static enum imrec_status copy_classes(struct repair *r, const char *path, struct imrec_error *err)
{
    struct class_file from = {0}, there = {0};
    bool shared = false;
    enum imrec_status st = load_classes(r->set.files.shards.uri[0], &from, err);
    if (st == IMREC_OK && from.text != NULL)
        st = share_classes(r, &from, &shared, err);
    if (st == IMREC_OK && shared)
        st = dataset_load(path, SET_CLASSES, &there.path, &there.text, &there.n, err);
    if (st == IMREC_OK && shared && !same_text(&from, &there))
        st = record_writer_classes(r->writer, there.path, r->o.force,
                                   (struct bytes){from.text, from.n}, err);
    free_class_file(&from);
    free_class_file(&there);
    return st;
}

static enum imrec_status open_all(struct repair *r, const char *path, struct imrec_error *err)
{
    IMREC_TRY(check_names(r, path, err));
    char *idx = set_path(path, SET_INDEX), *crc = set_path(path, SET_CHECKSUMS);
    const enum imrec_status st =
        idx != NULL && crc != NULL ? record_writer_open(path, idx, crc, r->o.force, &r->writer, err)
                                   : IMREC_NO_MEMORY(err, "no memory for a path");
    IMREC_FREE(idx, crc);
    return st == IMREC_OK ? copy_classes(r, path, err) : st;
}

enum imrec_status imrec_dataset_repair(const char *uri, const char *path,
                                       const struct imrec_repair_options *o,
                                       struct imrec_repair_result *out, struct imrec_error *err)
{
    struct repair r = {.result = out, .scratch = BUF_INIT(RECORD_MAX)};
    imrec_repair_options_init(&r.o);
    *out = (struct imrec_repair_result){0};
    IMREC_TRY(sized_copy(&r.o, sizeof(r.o), o, "imrec_repair_options_init", err));
    const struct container_options set = {.path_imgrec = uri, .num_parts = 1, .shifted = true};
    IMREC_TRY(dataset_walk_open(&set, NULL, NULL, &r.set, err));
    r.at.total_bytes = r.set.files.begin[r.set.files.shards.count];
    enum imrec_status st = open_all(&r, path, err);
    if (st == IMREC_OK)
        st = take_all(&r, err);
    if (st == IMREC_OK && out->kept == 0) /* a shard without a record is none */
        st =
            imrec_fail(err, IMREC_ERR_DATA, "%.300s: no record is intact, so %.100s is not written",
                       r.set.files.shards.uri[0], path);
    if (st == IMREC_OK) {
        struct imrec_writer *writer = r.writer;
        r.writer = NULL; /* gone, also on failure */
        st = imrec_writer_commit(writer, err);
    }
    imrec_writer_abort(r.writer);
    codec_free(r.codec);
    buf_free(&r.scratch);
    dataset_walk_close(&r.set);
    return st;
}
