/* container/record_table.c - the .idx files of all shards as one table of records. */
#include "container/record_table.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "container/index_doubt.h"
#include "container/index_ranges.h"
#include "container/partition.h"
#include "container/shards/index_load.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "formats/set/set_names.h"
#include "storage/at_once.h"
#include "storage/store/listed.h"
#include "storage/uri_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_AT_ONCE 64u
#define LINE_BYTES    64u /* no index has longer lines on average: a limit of what is loaded */

/* ---- which index goes with which shard ---------------------------------------------------- */

static size_t stem_bytes(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
}

static bool same_stem(const char *a, const char *b)
{
    a = set_base_name(a);
    b = set_base_name(b);
    return stem_bytes(a) == stem_bytes(b) && memcmp(a, b, stem_bytes(a)) == 0;
}

static bool are_paired(const struct container *s, const struct uri_list *l)
{
    size_t i = 0;
    while (i < l->count && same_stem(s->shards[i].uri, l->uri[i]))
        i++;
    return i == l->count;
}

/* Brings l into the order of the shards if every shard finds exactly one name of its own. */
static void pair_by_name(const struct container *s, struct uri_list *l)
{
    if (are_paired(s, l)) /* in whatever way: there may be many */
        return;
    for (size_t i = 0; i < l->count; i++) {
        size_t hits = 0;
        for (size_t j = 0; j < l->count; j++)
            hits += same_stem(s->shards[i].uri, l->uri[j]);
        if (hits != 1)
            return;
    }
    for (size_t i = 0; i < l->count; i++)
        for (size_t j = i; j < l->count; j++)
            if (same_stem(s->shards[i].uri, l->uri[j])) {
                char *uri = l->uri[j];
                l->uri[j] = l->uri[i];
                l->uri[i] = uri;
                break;
            }
}

/* ---- one index ---------------------------------------------------------------------------- */

enum imrec_status record_table_add(struct container *s, uint64_t *capacity, struct indexed_record r,
                                   struct imrec_error *err)
{
    if (!IMREC_GROW(s->records, *capacity, s->record_total + 2)) /* the border is one more */
        return IMREC_NO_MEMORY(err, "no memory for an index of %" PRIu64 " records",
                               s->record_total + 1);
    s->records[s->record_total++] = r;
    return IMREC_OK;
}

static enum imrec_status parse(struct container *s, uint32_t shard, const char *name,
                               struct bytes text, uint64_t *capacity, struct imrec_error *err)
{
    const uint64_t size = s->shards[shard].size;
    struct index_cursor c;
    struct indexed_record r = {.shard = shard};
    record_index_begin(&c, name, text);
    for (;;) {
        const enum imrec_status st = record_index_next(&c, &r.key, &r.offset, err);
        if (st != IMREC_OK)
            return st == IMREC_END ? IMREC_OK : st;
        if (r.offset >= size || size - r.offset < RECORDIO_PART_HEAD_BYTES)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%s line %" PRIu64 ": no record can begin at %" PRIu64
                              ", %s has %" PRIu64 " bytes; if it was cut, restore it, or copy what "
                              "is left (imrec repair); else the index is of another shard",
                              name, c.line, r.offset, s->shards[shard].uri, size);
        IMREC_TRY(record_table_add(s, capacity, r, err));
    }
}

/* Any order of lines is right, because the offsets are sorted, as in MXNet; a head that is
 * named twice is not: its record would be two samples with one identity. */
static enum imrec_status
sort(struct container *s, uint64_t first, const char *name, struct imrec_error *err)
{
    const uint64_t n = s->record_total - first;
    bool ascending = true;
    if (n == 0) /* of an empty index: there may be no table */
        return IMREC_OK;
    struct indexed_record *r = s->records + first;
    for (uint64_t i = 1; i < n; i++)
        ascending = ascending && r[i - 1].offset < r[i].offset;
    if (ascending)
        return IMREC_OK;
    qsort(r, (size_t)n, sizeof(*r), by_u64); /* by offset */
    for (uint64_t i = 1; i < n; i++)
        if (r[i - 1].offset == r[i].offset)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%s: two lines give the offset %" PRIu64 ", each record may have one",
                              name, r[i].offset);
    return IMREC_OK;
}

struct taking {
    struct container *c;
    uint64_t *capacity;
    uint32_t shard;
};

static enum imrec_status
take_entries(void *user, const struct index_entry *e, size_t n, struct imrec_error *err)
{
    const struct taking *t = user;
    for (size_t i = 0; i < n; i++)
        IMREC_TRY(record_table_add(
            t->c, t->capacity,
            (struct indexed_record){.offset = e[i].offset, .key = e[i].key, .shard = t->shard},
            err));
    return IMREC_OK;
}

/* Of an index that has them all: what its shard has there is damage where it is no record. */
static enum imrec_status note_complete(struct shard *h, const char *name, struct imrec_error *err)
{
    imrec_free(h->complete);
    h->complete = imrec_joined(name, 0, name);
    return h->complete != NULL ? IMREC_OK
                               : IMREC_NO_MEMORY(err, "no memory for the name of an index");
}

static enum imrec_status load_binary(struct container *s, uint32_t shard, const char *name,
                                     uint64_t *capacity, struct imrec_error *err)
{
    struct shard *h = &s->shards[shard];
    struct index_blocks head;
    IMREC_TRY(index_load(name, &(struct index_shard){h->uri, h->source, h->size, false},
                         take_entries, &(struct taking){s, capacity, shard}, &head, err));
    return (head.flags & INDEX_BLOCKS_COMPLETE) != 0 ? note_complete(h, name, err) : IMREC_OK;
}

/* Indexes that were read side by side. */
struct index_texts {
    const struct container *s;
    char **names;   /* of all shards */
    uint32_t first; /* shard */
    uint8_t *text[TEXTS_AT_ONCE];
    size_t n[TEXTS_AT_ONCE];
};

static enum imrec_status load_text(void *context, uint32_t i, struct imrec_error *err)
{
    struct index_texts *t = context;
    const uint64_t size = t->s->shards[t->first + i].size;
    if (index_is_binary(t->names[t->first + i])) /* it is read block by block */
        return IMREC_OK;
    const uint64_t limit = size / RECORDIO_PART_HEAD_BYTES * LINE_BYTES + (1u << 16);
    return source_load(t->names[t->first + i], (size_t)limit, &t->text[i], &t->n[i], err);
}

static enum imrec_status load_one(struct container *s, uint32_t shard, const char *name,
                                  struct bytes text, uint64_t *capacity, struct imrec_error *err)
{
    const uint64_t first = s->record_total;
    if (index_is_binary(name))
        return load_binary(s, shard, name, capacity, err);
    const enum imrec_status st = parse(s, shard, name, text, capacity, err);
    return st == IMREC_OK && s->record_total != first ? sort(s, first, name, err) : st;
}

/* ---- public ------------------------------------------------------------------------------- */

static void hash_records(struct container *s)
{
    s->index_hash = INDEX_BLOCKS_HASH_BEGIN;
    for (uint64_t i = 0; i < s->record_total; i++) {
        const struct indexed_record *r = &s->records[i];
        s->index_hash =
            index_blocks_hash(s->index_hash, r->shard, (struct index_entry){r->offset, r->key});
    }
}

/* The first doubt is kept. */
static enum imrec_status doubt_one(struct container *s, uint32_t shard, const char *name,
                                   uint64_t first, struct manifest_beside *b,
                                   struct imrec_error *err)
{
    const struct indexed_record *r = s->records != NULL ? s->records + first : NULL;
    const uint64_t n = s->record_total - first;
    s->shards[shard].first = n != 0 ? r[0].offset : 0;
    if (s->index_doubt.status != IMREC_OK)
        return IMREC_OK;
    const bool may_read = s->late == NULL || shard == 0;
    return index_doubt(&s->shards[shard], name, r, n, b, may_read, &s->index_doubt, err);
}

/* Those from t->first on. */
static enum imrec_status load_some(struct container *s, struct index_texts *t, uint64_t *capacity,
                                   struct manifest_beside *b, struct imrec_error *err)
{
    const uint32_t left = s->shard_count - t->first;
    const uint32_t count = left < TEXTS_AT_ONCE ? left : TEXTS_AT_ONCE;
    enum imrec_status st = at_once(count, source_is_far(t->names[t->first]), load_text, t, err);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t shard = t->first + i;
        const uint64_t first = s->record_total;
        if (st == IMREC_OK)
            st = load_one(s, shard, t->names[shard], (struct bytes){t->text[i], t->n[i]}, capacity,
                          err);
        if (st == IMREC_OK)
            st = doubt_one(s, shard, t->names[shard], first, b, err);
        imrec_free(t->text[i]);
        t->text[i] = NULL;
    }
    t->first += count;
    return st;
}

/* One name a shard; so below. */
static enum imrec_status
load_whole(struct container *s, char **names, struct manifest_beside *b, struct imrec_error *err)
{
    uint64_t capacity = 0;
    struct index_texts t = {.s = s, .names = names};
    while (t.first < s->shard_count)
        IMREC_TRY(load_some(s, &t, &capacity, b, err));
    return record_table_seal(s, err);
}

/* Their headers vouch for the records, but a manifest may have other ones. */
static enum imrec_status load_cut(struct container *s, char **names, const uint64_t *counts,
                                  struct manifest_beside *b, struct imrec_error *err)
{
    for (uint32_t i = 0; i < s->shard_count; i++) {
        IMREC_TRY(note_complete(&s->shards[i], names[i], err));
        if (s->index_doubt.status == IMREC_OK)
            IMREC_TRY(index_doubt(&s->shards[i], names[i], NULL, counts[i], b, false,
                                  &s->index_doubt, err));
    }
    return IMREC_OK;
}

static bool all_binary(const struct container *s, char **names)
{
    for (uint32_t i = 0; i < s->shard_count; i++)
        if (!index_is_binary(names[i]))
            return false;
    return s->shard_count != 0;
}

static enum imrec_status load_names(struct container *s, char **names, uint64_t *counts,
                                    struct manifest_beside *b, struct imrec_error *err)
{
    if (all_binary(s, names))
        IMREC_TRY(index_ranges_load(s, names, counts, &s->index_cut, err));
    return s->index_cut ? load_cut(s, names, counts, b, err) : load_whole(s, names, b, err);
}

static enum imrec_status load_all(struct container *s, char **names, struct imrec_error *err)
{
    struct manifest_beside b = {0};
    uint64_t *counts = imrec_zalloc((size_t)s->shard_count + 1, sizeof(*counts));
    const enum imrec_status st = counts != NULL
                                     ? load_names(s, names, counts, &b, err)
                                     : IMREC_NO_MEMORY(err, "no memory for counts of records");
    imrec_free(counts);
    manifest_beside_free(&b);
    if (st == IMREC_OK && s->shard_count != 0) {
        s->index = names[0];
        names[0] = NULL; /* it is the container's now */
    }
    return st;
}

enum imrec_status record_table_seal(struct container *s, struct imrec_error *err)
{
    if (s->records == NULL) /* an empty index is one, too */
        s->records = imrec_zalloc(1, sizeof(*s->records));
    if (s->records == NULL)
        return IMREC_NO_MEMORY(err, "no memory for an index");
    s->records[s->record_total] = (struct indexed_record){.shard = UINT32_MAX};
    hash_records(s);
    return IMREC_OK;
}

static enum imrec_status
load_listed(struct container *s, struct uri_list *l, struct imrec_error *err)
{
    if (l->count != s->shard_count)
        return IMREC_REFUSE(
            err, "path_imgidx names %zu files for %" PRIu32 " shards, each shard needs its own",
            l->count, s->shard_count);
    pair_by_name(s, l);
    return load_all(s, l->uri, err);
}

enum imrec_status
record_table_load(struct container *s, const char *path_imgidx, struct imrec_error *err)
{
    struct uri_list l;
    IMREC_TRY(uri_list_expand(path_imgidx, ".idx", &l, err));
    const enum imrec_status st = load_listed(s, &l, err);
    uri_list_free(&l);
    return st;
}

/* ---- next to the shards ------------------------------------------------------------------ */

enum index_wish index_wish(const char *path_imgidx)
{
    if (path_imgidx == NULL || path_imgidx[0] == '\0' || strcmp(path_imgidx, "none") == 0)
        return INDEX_NONE;
    return strcmp(path_imgidx, "auto") == 0 ? INDEX_AUTO : INDEX_NAMED;
}

static enum imrec_status no_names(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the names of indexes");
}

/* *name: that file of a shard, which may be missing: *there. The caller frees it, also after an
 * error. */
static enum imrec_status look_for(const struct shard *h, enum set_file which, char **name,
                                  bool *there, struct imrec_error *err)
{
    *there = false;
    *name = set_path(h->uri, which);
    if (*name == NULL)
        return no_names(err);
    return strcmp(*name, h->uri) == 0 ? IMREC_OK : index_is_there(*name, NULL, there, err);
}

/* *name: the index next to a shard, the binary one where there is one, else the text. */
static enum imrec_status
index_beside(const struct shard *h, char **name, bool *there, struct imrec_error *err)
{
    const enum imrec_status st = look_for(h, SET_BINARY_INDEX, name, there, err);
    if (st != IMREC_OK || *there)
        return st;
    imrec_free(*name);
    return look_for(h, SET_INDEX, name, there, err);
}

struct beside { /* of each shard */
    const struct container *s;
    char **name;
    bool *there;
    uint32_t count; /* of those that are there */
};

static enum imrec_status see_index(void *context, uint32_t i, struct imrec_error *err)
{
    const struct beside *b = context;
    return index_beside(&b->s->shards[i], &b->name[i], &b->there[i], err);
}

static void beside_free(struct beside *b)
{
    for (uint32_t i = 0; b->name != NULL && i < b->s->shard_count; i++)
        imrec_free(b->name[i]);
    IMREC_FREE(b->name, b->there);
}

static enum imrec_status
beside_find(const struct container *s, struct beside *b, struct imrec_error *err)
{
    const size_t n = (size_t)s->shard_count + 1;
    bool far = false;
    *b = (struct beside){s, imrec_zalloc(n, sizeof(*b->name)), imrec_zalloc(n, sizeof(*b->there)),
                         0};
    for (uint32_t i = 0; i < s->shard_count; i++)
        far |= source_is_far(s->shards[i].uri);
    const enum imrec_status st = b->name != NULL && b->there != NULL
                                     ? at_once(s->shard_count, far, see_index, b, err)
                                     : no_names(err);
    for (uint32_t i = 0; st == IMREC_OK && i < s->shard_count; i++)
        b->count += b->there[i];
    if (st != IMREC_OK)
        beside_free(b);
    return st;
}

/* The first that is not there, for the caller to keep; NULL: there is none. */
static char *take_missing(struct beside *b)
{
    for (uint32_t i = 0; i < b->s->shard_count; i++)
        if (!b->there[i]) {
            char *name = b->name[i];
            b->name[i] = NULL;
            return name;
        }
    return NULL;
}

enum imrec_status record_table_missing(const struct container *s, char **missing, uint32_t *there,
                                       struct imrec_error *err)
{
    struct beside b;
    *missing = NULL;
    *there = 0;
    IMREC_TRY(beside_find(s, &b, err));
    *there = b.count;
    *missing = take_missing(&b);
    beside_free(&b);
    return IMREC_OK;
}

enum imrec_status index_advise(bool binary, enum imrec_status st, struct imrec_error *err)
{
    struct imrec_error why;
    if (st == IMREC_OK || st == IMREC_ERR_NO_MEMORY || err == NULL)
        return st;
    why = *err;
    return imrec_error_at(err, st, why.offset,
                          "%.400s; make a new one (imrec index%s), or read without it "
                          "(path_imgidx=none)",
                          why.message, binary ? " --binary" : "");
}

static enum imrec_status load_beside(struct container *s, struct beside *b, struct imrec_error *err)
{
    bool binary = false;
    for (uint32_t i = 0; i < s->shard_count; i++)
        binary |= index_is_binary(b->name[i]);
    enum imrec_status st = load_all(s, b->name, err);
    if (st == IMREC_OK && s->index_doubt.status != IMREC_OK) {
        st = s->index_doubt.status;
        if (err != NULL)
            *err = s->index_doubt;
    }
    return index_advise(binary, st, err);
}

enum imrec_status record_table_find(struct container *s, struct imrec_error *err)
{
    struct beside b;
    enum imrec_status st = IMREC_OK;
    IMREC_TRY(beside_find(s, &b, err));
    s->index_found = b.count != 0 && b.count == s->shard_count;
    if (s->index_found)
        st = load_beside(s, &b, err);
    else if (b.count != 0) /* else nobody expects any */
        s->index_missing = take_missing(&b);
    beside_free(&b);
    return st;
}

void record_table_forget(struct container *s)
{
    for (uint32_t i = 0; i < s->shard_count; i++) {
        imrec_free(s->shards[i].complete);
        s->shards[i].complete = NULL;
    }
    IMREC_FREE(s->records, s->index, s->index_missing);
    index_lookup_free(s->lookup);
    s->lookup = NULL;
    s->records = NULL;
    s->index = s->index_missing = NULL;
    s->record_total = 0;
    s->index_found = s->index_cut = false;
    s->index_doubt.status = IMREC_OK;
}

enum imrec_status record_table_beside(const struct shard *shard, struct indexed_record **records,
                                      uint64_t *count, struct imrec_error *err)
{
    struct imrec_error why;
    struct shard h = *shard; /* its source is only read */
    h.complete = NULL;       /* the shard's own */
    struct container one = {.shards = &h, .shard_count = 1};
    const enum imrec_status st = record_table_find(&one, &why);
    *records = NULL;
    *count = 0;
    if (st == IMREC_OK && one.records != NULL) {
        *records = one.records;
        *count = one.record_total;
        one.records = NULL;
    }
    record_table_forget(&one);
    return st != IMREC_ERR_NO_MEMORY ? IMREC_OK
                                     : imrec_fail(err, st, "no memory to look for an index");
}

void record_table_cut(struct container *s)
{
    const uint64_t first = partition_begin(s, s->options.part_index);
    s->unit_count = partition_begin(s, s->options.part_index + 1) - first;
    if (first != 0)
        memmove(s->records, s->records + first, (size_t)(s->unit_count + 1) * sizeof(*s->records));
    struct indexed_record *fits =
        imrec_realloc(s->records, (size_t)s->unit_count + 1, sizeof(*s->records));
    if (fits != NULL) /* else it is only larger than it must be */
        s->records = fits;
}

enum imrec_status record_table_end(struct container *s, uint64_t hash, struct imrec_error *err)
{
    IMREC_TRY(record_table_seal(s, err));
    s->index_hash ^= hash;
    record_table_cut(s);
    return IMREC_OK;
}

/* ---- records as they are stored ----------------------------------------------------------- */

struct unit_range record_table_extent(const struct container *s, uint64_t unit)
{
    const struct indexed_record *r = &s->records[unit];
    const uint64_t n = r->bytes != RECORD_LOST ? r->bytes : s->kind->align;
    return (struct unit_range){r->shard, r->offset,
                               r->offset + min_u64(n, s->shards[r->shard].size - r->offset)};
}

enum imrec_status record_table_open(const struct container *s, const struct record_place *at,
                                    uint8_t *p, size_t n, struct bytes *out, uint64_t *used,
                                    struct imrec_error *err)
{
    (void)s;
    (void)err;
    *used = at->end - at->begin;
    *out = (struct bytes){p, n < *used ? n : (size_t)*used};
    return n < *used ? IMREC_END : IMREC_OK;
}
