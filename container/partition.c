/*
 * container/partition.c - the shards, the partition, and the grid of cells.
 *
 * The partition rule is the original's: the concatenation of all shards is cut into num_parts
 * steps of equal size, rounded up to 4; a record is in the part that holds its head's first
 * byte. With an index the records are counted off instead.
 */
#include "container/partition.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "container/cbf.h"
#include "container/manifest_beside.h"
#include "container/metadata.h"
#include "container/record_table.h"
#include "container/set_sums.h"
#include "container/shard_kind.h"
#include "container/user_source.h"
#include "formats/recordio/recordio.h"
#include "formats/set/set_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEPT_TAIL ((uint64_t)4 << 20)

/* ---- rules: pure ----------------------------------------------------------------------------- */

static uint64_t align_up(uint64_t n)
{
    return n + (RECORDIO_ALIGN - n % RECORDIO_ALIGN) % RECORDIO_ALIGN;
}

/* Where part `index` of num_parts begins, in `total` bytes or records taken `align` at a time. */
static uint64_t part_begin(uint64_t total, uint64_t num_parts, uint64_t index, uint64_t align)
{
    uint64_t step = total / num_parts + (total % num_parts != 0);
    step += (align - step % align) % align;
    return step == 0 || index > total / step ? total : step * index;
}

uint64_t split_part_begin(const struct split *s, uint64_t index)
{
    const bool indexed = s->records != NULL;
    return part_begin(indexed ? s->record_total : s->total_bytes, s->options.num_parts, index,
                      indexed ? 1 : RECORDIO_ALIGN);
}

struct split_range split_clip(const struct split *s, uint32_t shard, uint64_t begin, uint64_t end)
{
    const struct shard *h = &s->shards[shard];
    uint64_t from = begin > h->begin ? begin - h->begin : 0;
    uint64_t to = end > h->begin ? end - h->begin : 0;
    if (s->plugged != NULL) /* records stand anywhere */
        return (struct split_range){shard, from, to < h->size ? to : h->size};
    /* Heads stand on multiples of 4 of their shard, which may begin at any byte of the whole. */
    from = align_up(from) < h->size ? align_up(from) : h->size;
    to = align_up(to) < h->size ? align_up(to) : h->size;
    return (struct split_range){shard, from, to < from ? from : to};
}

/* ---- units ------------------------------------------------------------------------------------
 */

static uint32_t shard_of_cell(const struct split *s, uint64_t cell)
{
    uint32_t low = 0, high = s->shard_count; /* cell_base[low] <= cell < cell_base[high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->cell_base[middle] <= cell)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct split_range cell_range(const struct split *s, uint64_t cell)
{
    const uint32_t shard = shard_of_cell(s, cell);
    const struct split_range all = split_clip(s, shard, s->begin, s->end);
    const uint64_t grid = s->options.cell_bytes;
    const uint64_t number = all.begin / grid + (cell - s->cell_base[shard]);
    const uint64_t begin = number * grid, left = all.end - begin;
    return (struct split_range){shard, begin > all.begin ? begin : all.begin,
                                left < grid ? all.end : begin + grid};
}

struct split_range split_unit(const struct split *s, uint64_t unit)
{
    if (s->records == NULL)
        return cell_range(s, unit);
    const struct indexed_record *r = &s->records[unit]; /* one more stands behind the last */
    if (s->cbf != NULL) /* a count, and the image, in elements of 4 bytes */
        return (struct split_range){
            r->shard, r->offset, r->offset + 4 + (r->bytes != CBF_LOST ? align_up(r->bytes) : 0)};
    if (s->plugged != NULL)
        return (struct split_range){r->shard, r->offset, r->offset + r->bytes};
    const uint64_t size = s->shards[r->shard].size;
    return (struct split_range){r->shard, r->offset,
                                r->bytes != 0            ? r->offset + r->bytes
                                : r[1].shard == r->shard ? r[1].offset
                                                         : size};
}

uint64_t split_unit_bytes(const struct split *s, uint64_t unit)
{
    const struct split_range r = split_unit(s, unit);
    return r.end - r.begin;
}

static enum imrec_status no_memory(struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "no memory for the table of shards");
}

static enum imrec_status lay_grid(struct split *s, struct imrec_error *err)
{
    const uint64_t grid = s->options.cell_bytes;
    s->cell_base = imrec_zalloc((size_t)s->shard_count + 1, sizeof(*s->cell_base));
    if (s->cell_base == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < s->shard_count; i++) {
        const struct split_range r = split_clip(s, i, s->begin, s->end);
        const uint64_t cells = r.begin == r.end ? 0 : (r.end - 1) / grid - r.begin / grid + 1;
        s->cell_base[i + 1] = s->cell_base[i] + cells;
    }
    s->unit_count = s->cell_base[s->shard_count];
    return IMREC_OK;
}

/* ---- opening ------------------------------------------------------------------------------------
 */

static enum imrec_status check_options(const struct split_options *o, struct imrec_error *err)
{
    if (o->num_parts == 0 || o->part_index >= o->num_parts)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "part_index must be from 0 to num_parts - 1, not %" PRIu64
                              " of %" PRIu64,
                              o->part_index, o->num_parts);
    if (o->cell_bytes == 0 || o->cell_bytes % RECORDIO_ALIGN != 0)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "cells must have a multiple of 4 bytes, not %" PRIu64, o->cell_bytes);
    return IMREC_OK;
}

static void check_size(const struct shard *h, const struct shard_promise *p)
{
    if (p->bytes != UINT64_MAX && p->bytes != h->size)
        imrec_log(IMREC_LOG_WARNING, "%.300s has %" PRIu64 " bytes, and its manifest says %" PRIu64,
                  h->uri, h->size, p->bytes);
}

static enum imrec_status open_shards(struct split *s, struct shard_list *l, struct imrec_error *err)
{
    struct uri_list *names = &l->names;
    s->shards = imrec_zalloc(names->count, sizeof(*s->shards));
    if (s->shards == NULL)
        return no_memory(err);
    if (names->count >= UINT32_MAX)
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET, "%zu shards are too many",
                              names->count);
    for (size_t i = 0; i < names->count; i++) {
        struct shard *h = &s->shards[i];
        IMREC_TRY(source_open(names->uri[i], &h->source, err));
        s->shard_count++;
        h->uri = names->uri[i];
        names->uri[i] = NULL; /* it is the shard's now */
        h->begin = s->total_bytes;
        h->size = h->source->size;
        if (h->size > INT64_MAX - s->total_bytes)
            return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET,
                                  "%s: with it the shards have more than 2^63 bytes", h->uri);
        s->total_bytes += h->size;
        if (l->promise != NULL)
            check_size(h, &l->promise[i]);
    }
    return IMREC_OK;
}

/* ---- sets without a record ----------------------------------------------------------------------
 */

/* Whether the manifest of a shard says that it has none. */
static bool may_be_empty(const struct split *s, const struct shard_list *l, uint32_t shard)
{
    struct manifest_beside beside = {0};
    if (l->promise != NULL)
        return l->promise[shard].records == 0;
    const enum imrec_status st = manifest_beside_find(&beside, s->shards[shard].uri, NULL);
    const struct manifest_shard *m =
        st == IMREC_OK ? manifest_beside_entry(&beside, s->shards[shard].uri) : NULL;
    const bool empty = m != NULL && m->records == 0;
    manifest_beside_free(&beside);
    return empty;
}

/* `why` the set has no record: an error, unless all of its shards are promised to have none. */
static enum imrec_status no_records(const struct split *s, const struct shard_list *l,
                                    const char *why, struct imrec_error *err)
{
    char others[64] = "";
    bool fine = s->options.look != SPLIT_LOOK_SET;
    for (uint32_t i = 0; !fine && i < s->shard_count && may_be_empty(s, l, i); i++)
        fine = i + 1 == s->shard_count;
    if (fine)
        return IMREC_OK;
    if (s->shard_count > 1)
        (void)snprintf(others, sizeof(others), ", and none of the %" PRIu32 " shards holds one",
                       s->shard_count);
    return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET, "%.300s holds no record: %s%s",
                          s->shards[0].uri, why, others);
}

static enum imrec_status look_at_shards(struct split *s, const struct shard_list *l,
                                        enum shard_kind *kind, struct imrec_error *err)
{
    IMREC_TRY(shard_kinds(s, kind, err));
    if (*kind == SHARD_EMPTY && s->options.look == SPLIT_LOOK_SET)
        return no_records(s, l, "it has 0 bytes", err);
    for (uint32_t i = 0; i < s->shard_count && s->options.look != SPLIT_LOOK_FILE; i++)
        if (s->shards[i].size == 0 && !may_be_empty(s, l, i))
            imrec_log(IMREC_LOG_WARNING, "%.300s has 0 bytes, and no manifest says so",
                      s->shards[i].uri);
    return IMREC_OK;
}

/* The partition, and what its last record may have behind it. */
static enum imrec_status keep_in_memory(struct split *s, struct imrec_error *err)
{
    for (uint32_t i = 0; i < s->shard_count; i++) {
        const struct split_range r = split_clip(s, i, s->begin, s->end);
        struct source *inner = s->shards[i].source;
        s->shards[i].source = NULL; /* the new one owns it, also when it cannot be had */
        IMREC_TRY(keep_source_open(inner, r.begin, r.begin == r.end ? r.begin : r.end + KEPT_TAIL,
                                   &s->shards[i].source, err));
    }
    return IMREC_OK;
}

/* The partition as bytes of the concatenation, out of its first and last record. */
static void cover_records(struct split *s)
{
    if (s->unit_count == 0)
        return;
    const struct split_range last = split_unit(s, s->unit_count - 1);
    s->begin = s->shards[s->records[0].shard].begin + s->records[0].offset;
    s->end = s->shards[last.shard].begin + last.end;
}

static enum imrec_status open_plugged(struct split *s, bool indexed, struct imrec_error *err)
{
    if (indexed)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "path_imgidx: source=%s lists its records itself",
                              s->plugged->plugin.name);
    IMREC_TRY(plugged_open(s, err));
    cover_records(s);
    return IMREC_OK;
}

static enum imrec_status open_cbf(struct split *s, bool indexed, struct imrec_error *err)
{
    if (indexed)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "path_imgidx: %.300s is a CBF file, which is its own index",
                              s->shards[0].uri);
    IMREC_TRY(cbf_images_open(s, err));
    cover_records(s);
    return IMREC_OK;
}

/* The index that path_imgidx names, or those beside the shards that it lets us look for. */
static enum imrec_status load_index(struct split *s, enum index_wish wish, struct imrec_error *err)
{
    if (wish == INDEX_NAMED)
        return index_table_load(s, s->options.path_imgidx, err);
    return wish == INDEX_AUTO ? index_table_find(s, err) : IMREC_OK;
}

static enum imrec_status
cut_index(struct split *s, const struct shard_list *l, struct imrec_error *err)
{
    const uint64_t index = s->options.part_index;
    if (s->record_total == 0)
        IMREC_TRY(no_records(s, l, "its index has no entry", err));
    IMREC_TRY(metadata_find(s, err));
    metadata_drop(s);
    index_table_cut(s, split_part_begin(s, index), split_part_begin(s, index + 1));
    cover_records(s);
    return IMREC_OK;
}

static enum imrec_status
cut_partition(struct split *s, const struct shard_list *l, struct imrec_error *err)
{
    const uint64_t index = s->options.part_index;
    const enum index_wish wish = index_wish(s->options.path_imgidx);
    enum shard_kind kind;
    if (s->plugged != NULL)
        return open_plugged(s, wish == INDEX_NAMED, err);
    IMREC_TRY(look_at_shards(s, l, &kind, err));
    if (kind == SHARD_CBF)
        return open_cbf(s, wish == INDEX_NAMED, err);
    IMREC_TRY(load_index(s, wish, err));
    if (s->records != NULL)
        return cut_index(s, l, err);
    IMREC_TRY(metadata_find(s, err));
    s->begin = split_part_begin(s, index);
    s->end = split_part_begin(s, index + 1);
    return lay_grid(s, err);
}

static enum imrec_status expand(struct split *s, struct shard_list *l, struct imrec_error *err)
{
    const char *path = s->options.path_imgrec, *source = s->options.source;
    if (source == NULL || source[0] == '\0')
        return shard_list_open(
            l, path, s->options.look == SPLIT_LOOK_SET ? s->options.shards : SHARDS_UNSEEN, err);
    IMREC_TRY(plugged_find(source, &s->plugged, err));
    const char *suffix = s->plugged->format.suffix;
    return uri_list_expand(path, suffix != NULL ? suffix : "", &l->names, err);
}

static enum imrec_status open_all(struct split *s, struct shard_list *l, struct imrec_error *err)
{
    IMREC_TRY(check_options(&s->options, err));
    IMREC_TRY(expand(s, l, err));
    IMREC_TRY(open_shards(s, l, err));
    IMREC_TRY(cut_partition(s, l, err));
    if (s->options.verify_checksums)
        IMREC_TRY(set_sums_open(s, err));
    return s->options.keep_in_memory ? keep_in_memory(s, err) : IMREC_OK;
}

enum imrec_status
split_open(const struct split_options *o, struct split *out, struct imrec_error *err)
{
    struct shard_list l = {0};
    *out = (struct split){.options = *o};
    const enum imrec_status st = open_all(out, &l, err);
    shard_list_free(&l);
    if (st != IMREC_OK)
        split_close(out);
    out->options.path_imgrec = out->options.path_imgidx = out->options.source = NULL;
    return st;
}

void split_close(struct split *s)
{
    for (uint32_t i = 0; i < s->shard_count; i++) {
        source_close(s->shards[i].source);
        imrec_free(s->shards[i].uri);
    }
    imrec_free(s->shards);
    index_table_forget(s);
    imrec_free(s->cell_base);
    imrec_free(s->metadata);
    set_sums_close(s);
    cbf_images_close(s->cbf);
    plugged_close(s->plugged);
    *s = (struct split){0};
}

/* ---- facts
 * ---------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t v) /* the finalizer of MurmurHash3 */
{
    hash ^= v + 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 33;
}

/* By name without folder: a data set that moves is the same data set. */
uint64_t split_fingerprint(const struct split *s)
{
    uint64_t hash = mix(s->index_hash, s->shard_count);
    if (s->metadata_count != 0) /* they count as samples for no one any more */
        hash = mix(hash, s->metadata_count);
    if (s->sums != NULL && s->records == NULL) /* a cell may have fewer records than without them */
        hash = mix(hash, 1);
    for (uint32_t i = 0; i < s->shard_count; i++) {
        for (const char *c = set_base_name(s->shards[i].uri); *c != '\0'; c++)
            hash = mix(hash, (uint8_t)*c);
        hash = mix(hash, s->shards[i].size);
    }
    return hash;
}

uint64_t split_memory(const struct split *s)
{
    uint64_t bytes = s->records != NULL ? (s->unit_count + 1) * sizeof(*s->records) : 0;
    bytes += cbf_images_memory(s) + set_sums_memory(s) + s->metadata_count * sizeof(*s->metadata);
    for (uint32_t i = 0; s->options.keep_in_memory && i < s->shard_count; i++)
        bytes += keep_source_bytes(s->shards[i].source);
    return bytes;
}
