/* container/shards/index_lookup.c - entries of binary indexes by their numbers.
 *
 * Of a few entries of a block these alone are read: a block is 64 KiB, and in a permutation of 10^9
 * records each has another one. Their checksum is not compared then. Nothing is believed that would
 * need it: these indexes are complete, so that a record must begin and end where the entries say.
 * Of more entries the block is read and checked. */
#include "container/shards/index_lookup.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/recordio/recordio.h"
#include "storage/at_once.h"

#include <inttypes.h>

#define ENTRIES INDEX_BLOCKS_ENTRIES
#define ENTRY   INDEX_BLOCKS_ENTRY_BYTES
#define BORDER  (2 * ENTRY + 4) /* the last entry of a block, its checksum, the next one's first */

struct index_file {
    uint64_t begin; /* first: files are found by it */
    char *name;
    struct source *source;
    struct index_blocks head;
};

struct index_lookup {
    struct index_file *file;
    uint32_t count;
    uint64_t first;
    bool far;
};

struct block_room {
    uint8_t bytes[INDEX_BLOCKS_BLOCK_BYTES];
    struct index_entry entry[ENTRIES];
};

/* Entries of one block that are read one by one; of another machine every read is a request. */
#define FEW 16

/* ---- blocks ------------------------------------------------------------------------------- */

/* Block k, all of it, checked. */
static enum imrec_status
read_block(const struct index_file *f, uint64_t k, struct block_room *room, struct imrec_error *err)
{
    const size_t n = index_blocks_entries(&f->head, k) * ENTRY + 4;
    IMREC_TRY(source_read(f->source, index_blocks_begin(k), room->bytes, n, err));
    return index_blocks_read(f->name, &f->head, k, room->bytes, room->entry, err);
}

/* ---- entries ------------------------------------------------------------------------------ */

/* Entry `number`, and the offset of the one after it, or the shard's end: one read. */
static enum imrec_status read_entry(const struct index_file *f, uint64_t number,
                                    struct index_entry *e, uint64_t *next, struct imrec_error *err)
{
    uint8_t bytes[BORDER];
    const uint64_t k = number / ENTRIES, i = number % ENTRIES;
    const bool last = number + 1 == f->head.count, border = i + 1 == ENTRIES;
    const size_t n = last ? ENTRY : border ? BORDER : 2 * ENTRY;
    IMREC_TRY(source_read(f->source, index_blocks_begin(k) + i * ENTRY, bytes, n, err));
    *e = (struct index_entry){load_le64(bytes), load_le64(bytes + 8)};
    *next = last ? f->head.shard_bytes : load_le64(bytes + (border ? ENTRY + 4 : ENTRY));
    return IMREC_OK;
}

/* No record can be anywhere else than in the shard, before the next one. */
static enum imrec_status place(const struct index_file *f, const struct index_entry *e,
                               uint64_t next, uint64_t number, uint32_t shard,
                               struct record_place *out, struct imrec_error *err)
{
    if (next <= e->offset || next > f->head.shard_bytes)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, index_blocks_begin((number + 1) / ENTRIES),
                              "%s: offset %" PRIu64 " follows %" PRIu64 "; they must ascend",
                              f->name, next, e->offset);
    if (e->offset % RECORDIO_ALIGN != 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, index_blocks_begin(number / ENTRIES),
                              "%s: offset %" PRIu64
                              " is not a multiple of 4; records begin only at those",
                              f->name, e->offset);
    out->begin = e->offset;
    out->end = next;
    out->key = e->key;
    out->shard = shard;
    return IMREC_OK;
}

/* ---- groups: places in one block ---------------------------------------------------------- */

struct finding {
    const struct index_lookup *l;
    struct record_place *p;
    size_t n;
    const size_t *group; /* where each begins; NULL: there is one */
};

static uint32_t file_of(const struct index_lookup *l, uint64_t number)
{
    return (uint32_t)first_at_least(l->file, sizeof(*l->file), 0, l->count, number + 1) - 1;
}

/* The end of the group that begins with p[0]. */
static size_t group_end(const struct index_lookup *l, const struct record_place *p, size_t n)
{
    const uint64_t first = p->number + l->first;
    const struct index_file *f = &l->file[file_of(l, first)];
    const uint64_t block = (first - f->begin) / ENTRIES + 1;
    const uint64_t end = f->begin + min_u64(block * ENTRIES, f->head.count) - l->first;
    size_t i = 1;
    while (i < n && p[i].number < end)
        i++;
    return i;
}

static enum imrec_status find_in_block(const struct index_lookup *l, uint32_t shard,
                                       const struct block_room *room, struct record_place *p,
                                       size_t n, struct imrec_error *err)
{
    const struct index_file *f = &l->file[shard];
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = p[i].number + l->first - f->begin;
        struct index_entry e = room->entry[number % ENTRIES];
        uint64_t next = f->head.shard_bytes;
        if (number % ENTRIES + 1 == ENTRIES)
            IMREC_TRY(read_entry(f, number, &e, &next, err));
        else if (number + 1 != f->head.count)
            next = room->entry[number % ENTRIES + 1].offset;
        IMREC_TRY(place(f, &e, next, number, shard, &p[i], err));
    }
    return IMREC_OK;
}

static enum imrec_status find_few(const struct index_lookup *l, uint32_t shard,
                                  struct record_place *p, size_t n, struct imrec_error *err)
{
    const struct index_file *f = &l->file[shard];
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = p[i].number + l->first - f->begin;
        struct index_entry e;
        uint64_t next;
        IMREC_TRY(read_entry(f, number, &e, &next, err));
        IMREC_TRY(place(f, &e, next, number, shard, &p[i], err));
    }
    return IMREC_OK;
}

static enum imrec_status
find_group(const struct index_lookup *l, struct record_place *p, size_t n, struct imrec_error *err)
{
    const uint32_t shard = file_of(l, p->number + l->first);
    const struct index_file *f = &l->file[shard];
    const uint64_t k = (p->number + l->first - f->begin) / ENTRIES;
    struct block_room *room;
    if (n <= (l->far ? 1 : FEW))
        return find_few(l, shard, p, n, err);
    room = imrec_realloc(NULL, 1, sizeof(*room));
    if (room == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a block of %s", f->name);
    enum imrec_status st = read_block(f, k, room, err);
    if (st == IMREC_OK)
        st = find_in_block(l, shard, room, p, n, err);
    imrec_free(room);
    return st;
}

static enum imrec_status find_nth(void *context, uint32_t i, struct imrec_error *err)
{
    const struct finding *x = context;
    return find_group(x->l, x->p + x->group[i], x->group[i + 1] - x->group[i], err);
}

/* Side by side. */
static enum imrec_status
find_far(const struct index_lookup *l, struct record_place *p, size_t n, struct imrec_error *err)
{
    uint32_t groups = 0;
    size_t *group = imrec_realloc(NULL, n + 1, sizeof(*group));
    if (group == NULL)
        return IMREC_NO_MEMORY(err, "no memory to look up %zu records", n);
    for (size_t i = 0; i < n; i += group_end(l, p + i, n - i))
        group[groups++] = i;
    group[groups] = n;
    const enum imrec_status st =
        at_once(groups, true, find_nth, &(struct finding){l, p, n, group}, err);
    imrec_free(group);
    return st;
}

enum imrec_status index_lookup_find(const struct index_lookup *l, struct record_place *p, size_t n,
                                    struct imrec_error *err)
{
    if (l->far && n > 1)
        return find_far(l, p, n, err);
    for (size_t i = 0, end; i < n; i += end) {
        end = group_end(l, p + i, n - i);
        IMREC_TRY(find_group(l, p + i, end, err));
    }
    return IMREC_OK;
}

/* ---- life --------------------------------------------------------------------------------- */

enum imrec_status index_lookup_new(uint32_t shards, uint64_t first, bool far,
                                   struct index_lookup **out, struct imrec_error *err)
{
    struct index_lookup *l = *out = imrec_zalloc(1, sizeof(*l));
    if (l != NULL) {
        *l = (struct index_lookup){.first = first, .far = far};
        l->file = imrec_zalloc((size_t)shards + 1, sizeof(*l->file));
    }
    if (l != NULL && l->file != NULL)
        return IMREC_OK;
    imrec_free(l);
    *out = NULL;
    return IMREC_NO_MEMORY(err, "no memory for the indexes of %" PRIu32 " shards", shards);
}

enum imrec_status index_lookup_add(struct index_lookup *l, const char *name, struct source *source,
                                   const struct index_blocks *head, uint64_t begin,
                                   struct imrec_error *err)
{
    struct index_file *f = &l->file[l->count++];
    *f = (struct index_file){.begin = begin, .source = source, .head = *head};
    if (source == NULL)
        return IMREC_OK;
    f->name = imrec_joined(name, 0, name);
    return f->name != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for the name of an index");
}

void index_lookup_cancel(struct index_lookup *l)
{
    for (uint32_t i = 0; l != NULL && i < l->count; i++)
        if (l->file[i].source != NULL)
            source_cancel(l->file[i].source);
}

uint64_t index_lookup_memory(const struct index_lookup *l)
{
    return sizeof(*l) + l->count * sizeof(*l->file);
}

void index_lookup_free(struct index_lookup *l)
{
    for (uint32_t i = 0; l != NULL && i < l->count; i++) {
        source_close(l->file[i].source);
        imrec_free(l->file[i].name);
    }
    if (l != NULL)
        imrec_free(l->file);
    imrec_free(l);
}
