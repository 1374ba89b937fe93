/* dataset/dataset_index.c - reading, searching and writing the .idx of shards. */
#include "dataset/dataset_index.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "base/sized.h"
#include "container/shards/extents.h"
#include "dataset/dataset_walk.h"
#include "dataset/record_reader.h"
#include "formats/recordio/record_index.h"
#include "imrec/dataset.h"
#include "storage/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define LINES_FLUSH_BYTES ((size_t)1 << 16)

/* ---- reading ---------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const struct shard_index_entry *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static enum imrec_status append_entry(struct shard_index *x, uint64_t *room,
                                      struct shard_index_entry e, struct imrec_error *err)
{
    if (!IMREC_GROW(x->entry, *room, x->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for an index of %" PRIu64 " records", x->count + 1);
    x->entry[x->count++] = e;
    return IMREC_OK;
}

static enum imrec_status
parse(struct shard_index *x, const char *path, struct bytes text, struct imrec_error *err)
{
    struct index_cursor c;
    struct shard_index_entry e;
    uint64_t room = 0;
    enum imrec_status st;
    bool sorted = true;
    record_index_begin(&c, path, text);
    while ((st = record_index_next(&c, &e.key, &e.offset, err)) == IMREC_OK) {
        sorted = sorted && (x->count == 0 || by_offset(&x->entry[x->count - 1], &e) <= 0);
        IMREC_TRY(append_entry(x, &room, e, err));
    }
    if (!sorted)
        qsort(x->entry, x->count, sizeof(*x->entry), by_offset);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status
load_text(const char *shard, struct shard_index *out, struct imrec_error *err)
{
    uint8_t *text;
    char *path;
    size_t n;
    enum imrec_status st = dataset_load(shard, SET_INDEX, &path, &text, &n, err);
    out->found = text != NULL;
    if (st == IMREC_OK && out->found)
        st = parse(out, path, (struct bytes){text, n}, err);
    IMREC_FREE(text, path);
    return st;
}

struct comparing { /* a binary index: taken, or compared with the text */
    struct shard_index *x;
    uint64_t room, next;
    const char *name;
    struct index_blocks head;
    uint64_t hash;           /* over the entries so far */
    struct index_entry last; /* of them */
    bool plain;              /* none of them is as metadata is */
};

static void check_entry(struct comparing *c, struct index_entry e)
{
    if (c->next == 0)
        c->hash = c->head.hash_before;
    else
        c->plain &= index_blocks_plain(&c->last, 1, e.offset) != 0;
    c->hash = index_blocks_hash(c->hash, c->head.number, e);
    c->last = e;
}

/* Of a set's index nobody reads all entries: what the headers say is taken for the rest. */
static enum imrec_status check_header(struct comparing *c, struct imrec_error *err)
{
    const uint64_t hash = c->next != 0 ? c->hash : c->head.hash_before;
    if (hash != c->head.hash_after)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%.300s: its header has the hash 0x%016" PRIx64
                          " after its entries, which give 0x%016" PRIx64,
                          c->name, c->head.hash_after, hash);
    if (c->next != 0)
        c->plain &= index_blocks_plain(&c->last, 1, c->head.shard_bytes) != 0;
    if ((c->head.flags & INDEX_BLOCKS_PLAIN) != 0 && !c->plain)
        return imrec_fail(
            err, IMREC_ERR_CORRUPT,
            "%.300s: its header has the flag plain, but a record of key 0 has %u bytes", c->name,
            INDEX_BLOCKS_HEADER_BYTES);
    return IMREC_OK;
}

static enum imrec_status
take_entries(void *user, const struct index_entry *e, size_t n, struct imrec_error *err)
{
    struct comparing *c = user;
    for (size_t i = 0; i < n; i++, c->next++) {
        const struct shard_index_entry entry = {e[i].offset, e[i].key};
        check_entry(c, e[i]);
        if (!c->x->found) {
            IMREC_TRY(append_entry(c->x, &c->room, entry, err));
            continue;
        }
        const struct shard_index_entry *t = &c->x->entry[c->next];
        if (c->next >= c->x->count || t->offset != entry.offset || t->key != entry.key)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "%.300s: entry %" PRIu64 " has key %" PRIu64 " and offset %" PRIu64
                              ", which the .idx next to it does not have there",
                              c->name, c->next, entry.key, entry.offset);
    }
    return IMREC_OK;
}

static enum imrec_status
load_binary(const char *shard, const char *path, struct shard_index *out, struct imrec_error *err)
{
    struct source *source;
    struct comparing c = {.x = out, .name = path, .plain = true};
    IMREC_TRY(source_open(shard, &source, err));
    const struct index_shard of = {shard, source, source->size, false};
    enum imrec_status st = index_load(path, &of, take_entries, &c, &c.head, err);
    source_close(source);
    if (st == IMREC_OK)
        st = check_header(&c, err);
    if (st == IMREC_OK && out->found && c.next != out->count)
        st = imrec_fail(err, IMREC_ERR_CORRUPT,
                        "%.300s: %" PRIu64 " entries, the .idx next to it has %" PRIu64, path,
                        c.next, out->count);
    out->found = true;
    return st;
}

enum imrec_status
shard_index_load(const char *shard, struct shard_index *out, struct imrec_error *err)
{
    *out = (struct shard_index){0};
    enum imrec_status st = load_text(shard, out, err);
    char *path = st == IMREC_OK ? set_path(shard, SET_BINARY_INDEX) : NULL;
    if (st == IMREC_OK && path == NULL)
        st = IMREC_NO_MEMORY(err, "no memory for a path");
    bool there = false;
    if (st == IMREC_OK)
        st = sink_exists(path, &there, err);
    if (st == IMREC_OK && there)
        st = load_binary(shard, path, out, err);
    imrec_free(path);
    if (st != IMREC_OK)
        shard_index_free(out);
    return st;
}

const struct shard_index_entry *
shard_index_in(const struct shard_index *x, uint64_t begin, uint64_t end, uint64_t *count)
{
    const uint64_t lo = first_at_least(x->entry, sizeof(*x->entry),
                                       offsetof(struct shard_index_entry, offset), x->count, begin);
    for (*count = 0; lo + *count < x->count && x->entry[lo + *count].offset < end;)
        ++*count;
    return *count != 0 ? &x->entry[lo] : NULL;
}

void shard_index_free(struct shard_index *x)
{
    imrec_free(x->entry);
    *x = (struct shard_index){0};
}

/* ---- searching -------------------------------------------------------------------------- */

/* Does the record at (shard, offset) have this id? */
static bool has_id(struct imrec_reader *r, uint32_t shard, uint64_t offset, uint64_t id)
{
    struct imrec_record record;
    return imrec_reader_seek(r, shard, offset, NULL) == IMREC_OK &&
           imrec_reader_next(r, &record, NULL) == IMREC_OK && record.shard == shard &&
           record.offset == offset && record.is_image && record.id == id;
}

/* Of a kind with own_index, whose records are listed. Of several the first. IMREC_END: none has it.
 */
static enum imrec_status
find_listed(const struct container *c, uint64_t id, uint32_t *shard, uint64_t *offset)
{
    for (uint64_t i = 0; i < c->unit_count; i++)
        if (c->records[i].key == id) {
            *shard = c->records[i].shard;
            *offset = c->records[i].offset;
            return IMREC_OK;
        }
    return IMREC_END;
}

/* IMREC_END: no index knows it. */
static enum imrec_status
find_indexed(struct dataset_walk *w, uint64_t id, uint32_t *shard, uint64_t *offset)
{
    for (uint32_t s = 0; s < w->files.shards.count; s++) {
        struct shard_index x;
        struct imrec_error why;
        if (shard_index_load(w->files.shards.uri[s], &x, &why) != IMREC_OK) {
            imrec_log(IMREC_LOG_WARNING, "%s", why.message);
            continue;
        }
        for (uint64_t i = 0; i < x.count; i++) {
            if (x.entry[i].key == id && has_id(w->reader, s, x.entry[i].offset, id)) {
                *shard = s;
                *offset = x.entry[i].offset;
                shard_index_free(&x);
                return IMREC_OK;
            }
        }
        shard_index_free(&x);
    }
    return IMREC_END;
}

static enum imrec_status find_by_scan(struct dataset_walk *w, uint64_t id, uint32_t *shard,
                                      uint64_t *offset, struct imrec_error *err)
{
    struct imrec_record record;
    enum imrec_status st = imrec_reader_seek(w->reader, 0, 0, err);
    while (st == IMREC_OK || st == IMREC_ERR_DATA) {
        st = dataset_walk_next(w, &record, err);
        if (st == IMREC_OK && record.is_image && record.id == id) {
            *shard = record.shard;
            *offset = record.offset;
            return IMREC_OK;
        }
    }
    return st;
}

enum imrec_status imrec_dataset_find(const char *uri, uint64_t id, uint32_t *shard,
                                     uint64_t *offset, struct imrec_error *err)
{
    return imrec_dataset_find_with(uri, NULL, id, shard, offset, err);
}

enum imrec_status imrec_dataset_find_with(const char *uri, const struct imrec_reader_options *o,
                                          uint64_t id, uint32_t *shard, uint64_t *offset,
                                          struct imrec_error *err)
{
    struct dataset_walk w;
    struct container_options set = {.path_imgrec = uri, .num_parts = 1};
    IMREC_TRY(reader_options_take(o, &set, err));
    IMREC_TRY(dataset_walk_open(&set, NULL, NULL, &w, err));
    enum imrec_status st = w.kind->own_index ? find_listed(&w.reader->container, id, shard, offset)
                                             : find_indexed(&w, id, shard, offset);
    if (st == IMREC_END && !w.kind->own_index)
        st = find_by_scan(&w, id, shard, offset, err);
    dataset_walk_close(&w);
    if (st == IMREC_END)
        return IMREC_REFUSE(err, "%s: no record has the id %" PRIu64, uri, id);
    return st;
}

/* ---- writing ---------------------------------------------------------------------------- */

struct indexing {
    struct dataset_walk walk;
    struct sink *sink;
    struct buf lines;
    uint64_t *keys; /* of all records, to count repeated ones */
    uint64_t room;
    enum imrec_keys how;
    struct imrec_index_place *place; /* of a binary index; NULL: it is text */
    struct index_entry *entry;       /* of all records, binary only */
    uint64_t entry_room;
    uint64_t end; /* of the records so far; UINT64_MAX: there is a gap between them */
};

static enum imrec_status flush_lines(struct indexing *x, struct imrec_error *err)
{
    const enum imrec_status st = sink_append(x->sink, x->lines.p, x->lines.n, err);
    x->lines.n = 0;
    return st;
}

static enum imrec_status
add_key(struct indexing *x, uint64_t n, uint64_t key, struct imrec_error *err)
{
    if (!IMREC_GROW(x->keys, x->room, n + 1))
        return IMREC_NO_MEMORY(err, "no memory for %" PRIu64 " keys", n + 1);
    x->keys[n] = key;
    return IMREC_OK;
}

/* A line, or, of a binary index, whose header has the count, a place that is kept till the end. */
static enum imrec_status
write_entry(struct indexing *x, uint64_t n, struct index_entry e, struct imrec_error *err)
{
    if (x->place == NULL)
        return record_index_write(&x->lines, e.key, e.offset, err);
    x->end = x->end == e.offset ? e.offset + x->walk.reader->framed.n : UINT64_MAX;
    if (!IMREC_GROW(x->entry, x->entry_room, n + 1))
        return IMREC_NO_MEMORY(err, "no memory for an index of %" PRIu64 " records", n + 1);
    x->entry[n] = e;
    return IMREC_OK;
}

static enum imrec_status write_binary(struct indexing *x, uint64_t n, struct imrec_error *err)
{
    const struct shard *shard = &x->walk.reader->container.shards[0];
    struct imrec_index_place *place = x->place;
    struct index_blocks h;
    IMREC_TRY(index_of_shard(&(struct index_shard){shard->uri, shard->source, shard->size, false},
                             &h, err));
    h.number = place->number;
    h.hash_before = place->number != 0 ? place->hash : INDEX_BLOCKS_HASH_BEGIN;
    h.flags = x->end == shard->size ? INDEX_BLOCKS_COMPLETE : 0;
    IMREC_TRY(index_write(x->sink, &h, x->entry, n, err));
    *place = (struct imrec_index_place){h.number + 1, h.hash_after};
    return IMREC_OK;
}

static enum imrec_status
write_all(struct indexing *x, struct imrec_index_result *out, struct imrec_error *err)
{
    struct imrec_record r;
    for (;;) {
        const enum imrec_status st = dataset_walk_next(&x->walk, &r, err);
        if (st == IMREC_ERR_DATA) {
            out->damaged_ranges++;
            continue;
        }
        if (st == IMREC_END)
            return x->place != NULL ? write_binary(x, out->records, err) : flush_lines(x, err);
        if (st != IMREC_OK)
            return st;
        const uint64_t key = x->how == IMREC_KEYS_ID && r.is_image ? r.id : out->records;
        IMREC_TRY(add_key(x, out->records, key, err));
        IMREC_TRY(write_entry(x, out->records, (struct index_entry){r.offset, key}, err));
        out->records++;
        if (x->lines.n >= LINES_FLUSH_BYTES)
            IMREC_TRY(flush_lines(x, err));
    }
}

/* Of a kind whose records are found by walking: where they are. */
static enum imrec_status
write_extents(struct indexing *x, struct imrec_index_result *out, struct imrec_error *err)
{
    const struct container *c = &x->walk.reader->container;
    const struct index_shard shard = {c->shards[0].uri, c->shards[0].source, c->shards[0].size,
                                      true};
    if (!IMREC_GROW(x->entry, x->entry_room, c->unit_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for an index of %" PRIu64 " records", c->unit_count);
    for (uint64_t i = 0; i < c->unit_count; i++) {
        const struct imrec_error *why = c->kind->lost != NULL ? c->kind->lost(c, i) : NULL;
        if (why != NULL)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, why->offset,
                                  "%.200s: byte %" PRIu64
                                  ": %.300s; an index would hide it, without "
                                  "one it costs one sample",
                                  shard.uri, why->offset, why->message);
        x->entry[i] = (struct index_entry){c->records[i].offset, c->records[i].bytes};
    }
    out->records = c->unit_count;
    return extents_write(x->sink, &shard, x->entry, c->unit_count, err);
}

static uint64_t count_repeated(uint64_t *keys, uint64_t n)
{
    uint64_t repeated = 0;
    if (n != 0)
        qsort(keys, n, sizeof(*keys), by_u64);
    for (uint64_t i = 1; i < n; i++)
        repeated += keys[i] == keys[i - 1];
    return repeated;
}

static enum imrec_status index_to(struct indexing *x, const char *path, bool force,
                                  struct imrec_index_result *out, struct imrec_error *err)
{
    bool there = false;
    if (x->walk.kind->own_index && !x->walk.kind->extents)
        return IMREC_REFUSE(err, "%.300s is a %s, which is its own index",
                            x->walk.files.shards.uri[0], x->walk.kind->name);
    if (x->walk.files.shards.count != 1)
        return IMREC_REFUSE(err, "an index belongs to one shard, not to %zu",
                            x->walk.files.shards.count);
    if (!force)
        IMREC_TRY(sink_exists(path, &there, err));
    if (there) {
        const enum imrec_status st =
            IMREC_REFUSE(err, "%s exists already; it is replaced only by force", path);
        imrec_error_errno(err, EEXIST);
        return st;
    }
    IMREC_TRY(sink_open(path, &x->sink, err));
    if (x->walk.kind->extents) {
        IMREC_TRY(write_extents(x, out, err));
    } else {
        IMREC_TRY(write_all(x, out, err));
        out->repeated = count_repeated(x->keys, out->records);
    }
    struct sink *sink = x->sink;
    x->sink = NULL; /* gone, also on failure */
    return sink_commit(sink, err);
}

/* After a new text: a binary index that says something else would be found before it. */
static enum imrec_status drop_other(const char *shard, struct imrec_error *err)
{
    struct shard_index x;
    struct imrec_error why;
    enum imrec_status st = shard_index_load(shard, &x, &why);
    if (st == IMREC_OK)
        shard_index_free(&x);
    if (st != IMREC_ERR_CORRUPT && st != IMREC_ERR_UNSUPPORTED)
        return IMREC_OK;
    char *name = set_path(shard, SET_BINARY_INDEX);
    st = name != NULL ? sink_remove_first(name, err) : IMREC_NO_MEMORY(err, "no memory for a path");
    imrec_free(name);
    return st;
}

static enum imrec_status index_shard(struct indexing *x, const char *shard, const char *to,
                                     const struct imrec_index_options *o,
                                     struct imrec_index_result *out, struct imrec_error *err)
{
    struct container_options one = {
        .path_imgrec = shard, .num_parts = 1, .look = CONTAINER_LOOK_SHARD};
    IMREC_TRY(reader_options_take(o->reader, &one, err));
    one.only_images = one.image[0] != '\0';
    IMREC_TRY(dataset_walk_open(&one, NULL, NULL, &x->walk, err));
    x->walk.reader->keep_framed = x->place != NULL;
    const char *uri = x->walk.files.shards.uri[0];
    char *path = to != NULL ? imrec_joined(to, 0, to)
                 : x->walk.kind->extents
                     ? extents_name(NULL, uri)
                     : set_path(uri, x->place != NULL ? SET_BINARY_INDEX : SET_INDEX);
    enum imrec_status st = path != NULL ? index_to(x, path, o->force, out, err)
                                        : IMREC_NO_MEMORY(err, "no memory for a path");
    if (st == IMREC_OK && to == NULL && x->place == NULL && !x->walk.kind->extents)
        st = drop_other(x->walk.files.shards.uri[0], err);
    sink_abort(x->sink);
    buf_free(&x->lines);
    IMREC_FREE(x->keys, x->entry, path);
    dataset_walk_close(&x->walk);
    return st;
}

void imrec_index_options_init_sized(struct imrec_index_options *o, size_t size)
{
    const struct imrec_index_options defaults = {.keys = IMREC_KEYS_ID};
    sized_init(o, size, &defaults, sizeof(defaults));
}

enum imrec_status imrec_dataset_index_with(const char *shard, const char *path,
                                           const struct imrec_index_options *o,
                                           struct imrec_index_result *out, struct imrec_error *err)
{
    struct imrec_index_options mine;
    struct imrec_index_place alone = {0};
    *out = (struct imrec_index_result){0};
    imrec_index_options_init(&mine);
    IMREC_TRY(sized_copy(&mine, sizeof(mine), o, "imrec_index_options_init", err));
    if (mine.binary && path != NULL && !index_is_binary(path))
        return IMREC_REFUSE(err, "%.300s: the name of a binary index ends in .idxb", path);
    struct indexing x = {.lines = BUF_INIT(2 * LINES_FLUSH_BYTES), .how = mine.keys};
    if (mine.binary)
        x.place = mine.place != NULL ? mine.place : &alone;
    return index_shard(&x, shard, path, &mine, out, err);
}

enum imrec_status imrec_dataset_index(const char *shard, const char *idx_path, enum imrec_keys keys,
                                      bool force, struct imrec_index_result *out,
                                      struct imrec_error *err)
{
    struct imrec_index_options o;
    imrec_index_options_init(&o);
    o.keys = keys;
    o.force = force;
    return imrec_dataset_index_with(shard, idx_path, &o, out, err);
}

enum imrec_status
imrec_dataset_index_binary(const char *shard, const char *idxb_path, enum imrec_keys keys,
                           bool force, struct imrec_index_place *place,
                           struct imrec_index_result *out, struct imrec_error *err)
{
    struct imrec_index_options o;
    imrec_index_options_init(&o);
    o.keys = keys;
    o.force = force;
    o.binary = true;
    o.place = place;
    return imrec_dataset_index_with(shard, idxb_path, &o, out, err);
}
