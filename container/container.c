/* container/container.c - opening a set: its shards, what kind they are, the partition of a reader;
 * and the facts of the open set. */
#include "container/container.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "container/empty_set.h"
#include "container/image_files.h"
#include "container/kinds.h"
#include "container/metadata.h"
#include "container/partition.h"
#include "container/record_table.h"
#include "container/set_sums.h"
#include "container/shards/index_load.h"
#include "container/user_source.h"
#include "formats/set/image_list.h"
#include "formats/set/set_names.h"
#include "storage/at_once.h"
#include "storage/store/listed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEPT_TAIL ((uint64_t)4 << 20)

static enum imrec_status check_options(const struct container_options *o, struct imrec_error *err)
{
    if (o->num_parts == 0 || o->part_index >= o->num_parts)
        return IMREC_REFUSE(
            err, "part_index must be from 0 to num_parts - 1, not %" PRIu64 " of %" PRIu64,
            o->part_index, o->num_parts);
    if (o->cell_bytes == 0 || o->cell_bytes % 4 != 0)
        return IMREC_REFUSE(err, "cells must have a multiple of 4 bytes, not %" PRIu64,
                            o->cell_bytes);
    return IMREC_OK;
}

static void check_size(const struct shard *h, const struct shard_promise *p)
{
    if (p->bytes != UINT64_MAX && p->bytes != h->size)
        imrec_log(IMREC_LOG_WARNING, "%.300s has %" PRIu64 " bytes, and its manifest says %" PRIu64,
                  h->uri, h->size, p->bytes);
}

static enum imrec_status open_shard(void *context, uint32_t i, struct imrec_error *err)
{
    struct container *c = context;
    struct shard *h = &c->shards[i];
    if (c->kind != NULL && c->kind->open_shard != NULL)
        return c->kind->open_shard(c, i, err);
    return c->late != NULL ? source_open_later(h->uri, &c->late->base, &h->source, err)
                           : source_open(h->uri, &h->source, err);
}

/* Whether each is opened when it is read first: there are many, and all are listed. */
static bool are_late(const struct uri_list *names)
{
    const struct folder_entry *said;
    for (size_t i = 0; i < names->count; i++)
        if (!listed_look(names->uri[i], &said) || said == NULL || said->identity == NULL)
            return false;
    return names->count > CONTAINER_OPEN_MOST;
}

/* What it adds to the set, once it is open. */
static enum imrec_status place_shard(struct container *c, struct shard *h, struct imrec_error *err)
{
    h->begin = c->total_bytes;
    h->size = h->source->size;
    if (h->size > INT64_MAX - c->total_bytes)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%s: with it the shards have more than 2^63 bytes",
                          h->uri);
    c->total_bytes += h->size;
    return IMREC_OK;
}

/* The names of the shards are the list's, too, until all are open. */
static enum imrec_status
make_table(struct container *c, struct uri_list *names, struct imrec_error *err)
{
    if (names->count >= UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%zu shards are too many", names->count);
    const bool late = !(c->kind != NULL && c->kind->open_shard != NULL) && are_late(names);
    c->shards = imrec_zalloc(names->count, sizeof(*c->shards));
    c->late = late ? imrec_zalloc(1, sizeof(*c->late)) : NULL;
    if (c->late != NULL)
        c->late->base.check = kinds_check;
    if (c->shards == NULL || (late && c->late == NULL))
        return IMREC_NO_MEMORY(err, "no memory for the table of shards");
    for (size_t i = 0; i < names->count; i++)
        c->shards[i].uri = names->uri[i];
    c->shard_count = (uint32_t)names->count;
    return IMREC_OK;
}

/* What needs the list alone is done at once: thing 0 compares it with manifests, thing i + 1 opens
 * shard i. */
struct opening {
    struct container *c;
    struct shard_list *l;
    enum shard_look look;
};

static enum imrec_status open_thing(void *context, uint32_t i, struct imrec_error *err)
{
    struct opening *o = context;
    return i == 0 ? shard_list_check(o->l, o->look, err) : open_shard(o->c, i - 1, err);
}

static enum imrec_status open_shards(struct container *c, struct shard_list *l,
                                     enum shard_look look, struct imrec_error *err)
{
    struct opening o = {c, l, look};
    bool far = false;
    IMREC_TRY(make_table(c, &l->names, err));
    for (uint32_t i = 0; i < c->shard_count; i++)
        far |= c->late == NULL && source_is_far(c->shards[i].uri);
    const enum imrec_status st = at_once(c->shard_count + 1, far, open_thing, &o, err);
    for (uint32_t i = 0; i < c->shard_count; i++)
        l->names.uri[i] = NULL; /* they are the shards' */
    if (st != IMREC_OK)
        return st;
    for (uint32_t i = 0; i < c->shard_count; i++) {
        IMREC_TRY(place_shard(c, &c->shards[i], err));
        if (l->promise != NULL)
            check_size(&c->shards[i], &l->promise[i]);
    }
    return IMREC_OK;
}

/* The partition, and the bytes that may follow its last record. */
static enum imrec_status keep_in_memory(struct container *c, struct imrec_error *err)
{
    for (uint32_t i = 0; i < c->shard_count; i++) {
        const struct unit_range r = partition_clip(c, i, c->begin, c->end);
        struct source *inner = c->shards[i].source;
        c->shards[i].source = NULL; /* the new one owns it, also when it cannot be had */
        IMREC_TRY(keep_source_open(inner, r.begin, r.begin == r.end ? r.begin : r.end + KEPT_TAIL,
                                   &c->shards[i].source, err));
    }
    return IMREC_OK;
}

/* The kind of the shards, where source= has not said it. Of a set without a byte it is the first.
 */
static enum imrec_status
find_kind(struct container *c, const struct shard_list *l, struct imrec_error *err)
{
    bool empty;
    IMREC_TRY(kinds_find(c, &c->kind, &empty, err));
    if (empty && c->options.look == CONTAINER_LOOK_SET)
        IMREC_TRY(empty_set(c, l, "it has 0 bytes", err));
    for (uint32_t i = 0; !empty && i < c->shard_count && c->options.look != CONTAINER_LOOK_FILE;
         i++)
        if (c->shards[i].size == 0 && !empty_set_is_promised(c, l, i))
            imrec_log(IMREC_LOG_WARNING, "%.300s has 0 bytes, and no manifest confirms it",
                      c->shards[i].uri);
    return IMREC_OK;
}

/* The partition as bytes of the concatenation, out of its first and last record. */
static enum imrec_status cover_records(struct container *c, struct imrec_error *err)
{
    struct record_place first = {.number = 0}, last = {.number = c->unit_count - 1};
    if (c->unit_count == 0)
        return IMREC_OK;
    IMREC_TRY(container_locate(c, &first, 1, err));
    IMREC_TRY(container_locate(c, &last, 1, err));
    c->begin = c->shards[first.shard].begin + first.begin;
    c->end = c->shards[last.shard].begin + last.end;
    return IMREC_OK;
}

static enum imrec_status cut_cells(struct container *c, struct imrec_error *err)
{
    c->begin = partition_begin(c, c->options.part_index);
    c->end = partition_begin(c, c->options.part_index + 1);
    return partition_grid(c, err);
}

/* Names of parts have no meaning where a record has one image, its labels and its mask. */
static enum imrec_status check_parts(const struct container *c, struct imrec_error *err)
{
    const char *const parts[][2] = {
        {"image", c->options.image}, {"label", c->options.label}, {"mask", c->options.mask}};
    for (size_t i = 0; !c->kind->named && i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i][1] != NULL && parts[i][1][0] != '\0')
            return IMREC_REFUSE(err,
                                "%s= says which part of a sample is its %s, but %.200s is a %s, "
                                "whose records have one: leave it out",
                                parts[i][0], parts[i][0], c->shards[0].uri, c->kind->name);
    return IMREC_OK;
}

/* Of shards that are found by walking path_imgidx names a folder, or the index of the only one. */
static enum imrec_status check_folder(const struct container *c, struct imrec_error *err)
{
    const char *const path = c->options.path_imgidx, *const dot = strrchr(path, '.');
    const bool binary = index_is_binary(path), text = dot != NULL && strcmp(dot, ".idx") == 0;
    if (!text && (!binary || c->shard_count == 1))
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "path_imgidx=%.200s: %.200s is a %s, whose index imrec index writes: name "
                        "the folder with NAME.idxb of every shard, or auto where it is next to it",
                        path, c->shards[0].uri, c->kind->name);
}

static enum imrec_status
cut_partition(struct container *c, const struct shard_list *l, struct imrec_error *err)
{
    const bool named = index_wish(c->options.path_imgidx) == INDEX_NAMED;
    if (named && c->kind->extents)
        IMREC_TRY(check_folder(c, err));
    if (named && c->kind->own_index && c->kind->suffix != NULL && !c->kind->extents)
        return IMREC_REFUSE(err, "path_imgidx: %.300s is a %s, which is its own index",
                            c->shards[0].uri, c->kind->name);
    IMREC_TRY(check_parts(c, err));
    IMREC_TRY(c->kind->list(c, l, err));
    return container_is_listed(c) ? cover_records(c, err) : cut_cells(c, err);
}

/* Only names in lists are below a folder. */
static enum imrec_status
check_root(const struct container *c, const struct shard_list *l, struct imrec_error *err)
{
    const char *const root = c->options.path_root;
    if (root == NULL || root[0] == '\0' || l->form == SHARDS_LISTS)
        return IMREC_OK;
    return IMREC_REFUSE(err, "path_root is the folder of a list's files, and %.300s is no list",
                        l->names.uri[0]);
}

/* *look: what is to be compared with manifests. */
static enum imrec_status
expand(struct container *c, struct shard_list *l, enum shard_look *look, struct imrec_error *err)
{
    const char *path = c->options.path_imgrec, *source = c->options.source;
    const bool own = source != NULL && source[0] != '\0';
    *look = !own && c->options.look == CONTAINER_LOOK_SET ? c->options.shards : SHARDS_UNSEEN;
    l->only = kinds_of(c->options.container);
    if (!own) {
        IMREC_TRY(shard_list_add(l, path, *look, err));
        IMREC_TRY(check_root(c, l, err));
        if (l->form == SHARDS_RECORDS)
            return IMREC_OK;
        *look = SHARDS_UNSEEN; /* no manifest is of files */
        return image_files_begin(c, l, err);
    }
    if (l->only != NULL)
        return IMREC_REFUSE(err,
                            "source=%.100s says how files are read: container= is for kinds "
                            "that are built in",
                            source);
    IMREC_TRY(user_source_find(source, c, err));
    const char *suffix = user_source_suffix(c);
    IMREC_TRY(uri_list_expand(path, suffix != NULL ? suffix : "", &l->names, err));
    return check_root(c, l, err);
}

static enum imrec_status
open_all(struct container *c, struct shard_list *l, struct imrec_error *err)
{
    enum shard_look look;
    IMREC_TRY(check_options(&c->options, err));
    IMREC_TRY(expand(c, l, &look, err));
    IMREC_TRY(open_shards(c, l, look, err));
    if (c->kind == NULL)
        IMREC_TRY(find_kind(c, l, err));
    IMREC_TRY(cut_partition(c, l, err));
    if (c->options.verify_checksums)
        IMREC_TRY(set_sums_open(c, err));
    return c->options.keep_in_memory ? keep_in_memory(c, err) : IMREC_OK;
}

static enum imrec_status
open_bytes(struct container *c, struct shard_list *l, struct imrec_error *err)
{
    IMREC_TRY(check_options(&c->options, err));
    IMREC_TRY(uri_list_expand(c->options.path_imgrec, "", &l->names, err));
    IMREC_TRY(open_shards(c, l, SHARDS_UNSEEN, err));
    return cut_cells(c, err);
}

/* They were the caller's. */
static void forget_texts(struct container_options *o)
{
    o->path_imgrec = o->path_imgidx = o->source = NULL;
    o->image = o->label = o->mask = o->path_root = NULL;
}

enum imrec_status container_open_as(const struct container_options *o,
                                    const struct container_kind *kind, struct container *out,
                                    struct imrec_error *err)
{
    struct shard_list l = {0};
    struct listed all = {NULL}, *before = listed_enter(&all);
    *out = (struct container){.kind = kind, .options = *o};
    const enum imrec_status st = kind != NULL ? open_bytes(out, &l, err) : open_all(out, &l, err);
    listed_enter(before);
    listed_free(&all);
    shard_list_free(&l);
    if (st != IMREC_OK)
        container_close(out);
    forget_texts(&out->options);
    return st;
}

enum imrec_status
container_open(const struct container_options *o, struct container *out, struct imrec_error *err)
{
    return container_open_as(o, NULL, out, err);
}

#define RECORDS_MOST ((uint64_t)1 << 48)

static enum imrec_status
number_records(struct container *c, const struct numbered *n, struct imrec_error *err)
{
    IMREC_TRY(check_options(&c->options, err));
    if (n->count == 0 || n->count > RECORDS_MOST)
        return IMREC_REFUSE(err, "%.300s has %" PRIu64 " records, it must have 1 to 2^48", n->name,
                            n->count);
    const size_t bytes = strlen(n->name) + 1;
    c->shards = imrec_zalloc(1, sizeof(*c->shards));
    c->shard_count = c->shards != NULL;
    if (c->shards == NULL || (c->shards->uri = imrec_zalloc(bytes, 1)) == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a table of records");
    memcpy(c->shards->uri, n->name, bytes);
    c->shards->size = c->record_total = n->count;
    c->total_bytes =
        n->record_bytes < INT64_MAX / n->count ? n->count * n->record_bytes : INT64_MAX;
    c->end = c->total_bytes;
    c->index_hash = n->hash;
    c->at_once = n->at_once;
    c->threads = n->threads;
    const uint64_t first = partition_begin(c, c->options.part_index);
    c->unit_count = partition_begin(c, c->options.part_index + 1) - first;
    return IMREC_OK;
}

enum imrec_status container_open_numbered(const struct container_options *o,
                                          const struct numbered *n, struct container *out,
                                          struct imrec_error *err)
{
    *out = (struct container){.kind = n->kind, .state = n->state, .options = *o};
    const enum imrec_status st = number_records(out, n, err);
    if (st != IMREC_OK)
        container_close(out);
    forget_texts(&out->options);
    return st;
}

void container_close(struct container *c)
{
    record_table_forget(c);
    for (uint32_t i = 0; i < c->shard_count; i++) {
        source_close(c->shards[i].source);
        imrec_free(c->shards[i].uri);
    }
    IMREC_FREE(c->shards, c->late, c->cell_base, c->metadata);
    set_sums_close(c);
    if (c->state != NULL && c->kind->close != NULL)
        c->kind->close(c);
    *c = (struct container){0};
}

/* The byte that a fetched record has is its number. */
static void locate_numbers(const struct container *c, struct record_place *p, size_t n)
{
    const uint64_t first = partition_begin(c, c->options.part_index);
    for (size_t i = 0; i < n; i++) {
        p[i].begin = p[i].key = first + p[i].number;
        p[i].end = p[i].begin + 1;
        p[i].shard = 0;
    }
}

enum imrec_status container_locate(const struct container *c, struct record_place *p, size_t n,
                                   struct imrec_error *err)
{
    if (container_is_fetched(c)) {
        locate_numbers(c, p, n);
        return IMREC_OK;
    }
    if (c->lookup != NULL)
        return index_lookup_find(c->lookup, p, n, err);
    for (size_t i = 0; i < n; i++) {
        const struct unit_range r = c->kind->extent(c, p[i].number);
        p[i].begin = r.begin;
        p[i].end = r.end;
        p[i].shard = r.shard;
        p[i].key = c->records[p[i].number].key;
    }
    return IMREC_OK;
}

uint64_t
container_cell_of(const struct container *c, const struct record_place *p, uint64_t cell_bytes)
{
    return container_is_fetched(c) ? c->kind->block(c, p->begin) : p->begin / cell_bytes;
}

void container_cancel(struct container *c)
{
    stop_ask(&c->stop);
    index_lookup_cancel(c->lookup);
    if (container_is_fetched(c))
        c->kind->cancel(c);
    for (uint32_t i = 0; !container_is_fetched(c) && i < c->shard_count; i++)
        source_cancel(c->shards[i].source);
}

struct unit_range container_unit(const struct container *c, uint64_t unit)
{
    return c->records == NULL ? partition_cell(c, unit) : c->kind->extent(c, unit);
}

uint64_t container_describe(const struct container *c, const struct record_ref *r,
                            const struct imrec_error *why, char text[96])
{
    if (c->kind->describe != NULL)
        return c->kind->describe(c, r, why, text);
    (void)snprintf(text, 96, "%s at byte %" PRIu64, c->kind->record, r->offset);
    return r->offset;
}

uint64_t container_number(const struct container *c, const struct record_ref *r)
{
    return c->kind->number != NULL ? c->kind->number(c, r) : r->offset;
}

enum imrec_status
container_count(const struct container *c, uint64_t *counts, struct imrec_error *err)
{
    if (!container_is_listed(c))
        return c->kind->count(c, counts, err);
    for (uint64_t p = 0; p < c->options.num_parts; p++)
        counts[p] = partition_begin(c, p + 1) - partition_begin(c, p);
    return IMREC_OK;
}

float record_label(const struct record *r, uint32_t i)
{
    return load_le_float(r->labels.p + (size_t)i * sizeof(float));
}

enum imrec_status parse_room_init(struct parse_room *room, uint32_t labels,
                                  enum imrec_label_dtype type, int64_t max_pixels,
                                  struct imrec_error *err)
{
    const bool typed = type != IMREC_LABEL_FLOAT32;
    *room = (struct parse_room){.label_room = labels, .type = type};
    room->limit = (uint64_t)max_pixels < SIZE_MAX / 8 ? (size_t)max_pixels * 4 : SIZE_MAX / 2;
    room->labels = imrec_zalloc((size_t)labels + 1, sizeof(*room->labels));
    room->typed = typed ? imrec_zalloc((size_t)labels + 1, sizeof(*room->typed)) : NULL;
    if (room->labels != NULL && (room->typed != NULL || !typed))
        return IMREC_OK;
    return IMREC_NO_MEMORY(err, "no memory for the labels of a sample");
}

void parse_room_free(struct parse_room *room)
{
    IMREC_FREE(room->labels, room->typed, room->p, room->fields);
    *room = (struct parse_room){0};
}

static uint64_t mix(uint64_t hash, uint64_t v) /* the finalizer of MurmurHash3 */
{
    hash ^= v + 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 33;
}

/* By name without folder: a data set that moves is the same data set. */
uint64_t container_fingerprint(const struct container *c)
{
    uint64_t hash = mix(c->index_hash, c->shard_count);
    if (c->metadata_count != 0) /* they count as samples for no one any more */
        hash = mix(hash, c->metadata_count);
    if (c->sums != NULL &&
        !container_is_listed(c)) /* a cell may have fewer records than without them */
        hash = mix(hash, 1);
    for (uint32_t i = 0; i < c->shard_count; i++) {
        for (const char *p = set_base_name(c->shards[i].uri); *p != '\0'; p++)
            hash = mix(hash, (uint8_t)*p);
        hash = mix(hash, c->shards[i].size);
    }
    return hash;
}

uint64_t container_state_memory(const struct container *c)
{
    return c->kind->memory != NULL ? c->kind->memory(c) : 0;
}

uint64_t container_table_memory(const struct container *c)
{
    if (c->lookup != NULL)
        return index_lookup_memory(c->lookup);
    return c->records != NULL ? (c->unit_count + 1) * sizeof(*c->records) : 0;
}

uint64_t container_memory(const struct container *c)
{
    uint64_t bytes = container_table_memory(c);
    bytes +=
        container_state_memory(c) + set_sums_memory(c) + c->metadata_count * sizeof(*c->metadata);
    for (uint32_t i = 0; c->options.keep_in_memory && i < c->shard_count; i++)
        bytes += keep_source_bytes(c->shards[i].source);
    return bytes;
}
