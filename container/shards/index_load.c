/* container/shards/index_load.c - the binary index of a shard: one read of the header, then one for
 * a few blocks. What is held is these, however large the index is. */
#include "container/shards/index_load.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/crc32c.h"
#include "storage/sink.h"
#include "storage/store/listed.h"

#include <errno.h>
#include <inttypes.h>

#define SUFFIX    ".idxb"
#define AT_A_TIME 8u /* blocks of a read */

bool index_is_binary(const char *name)
{
    const size_t n = source_name_bytes(name), suffix = strlen(SUFFIX);
    return n >= suffix && memcmp(name + n - suffix, SUFFIX, suffix) == 0;
}

/* Whether a name that cannot be opened is one that nothing has. What is no file is not an index
 * either; a store may deny what it does not have. */
static bool is_absent(const char *name, enum imrec_status st, int code)
{
    if (st != IMREC_ERR_IO)
        return st != IMREC_ERR_NO_MEMORY && st != IMREC_ERR_CANCELLED;
    return code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG ||
           (code == EACCES && source_is_far(name));
}

enum imrec_status index_is_there(const char *name, bool (*is_it)(struct source *f), bool *there,
                                 struct imrec_error *err)
{
    const struct folder_entry *file;
    struct source *source;
    struct imrec_error why = {0};
    if (listed_look(name, &file)) {
        *there = file != NULL;
        return IMREC_OK;
    }
    const enum imrec_status st = source_open(name, &source, &why);
    *there = st == IMREC_OK && (is_it == NULL || !source_is_far(name) || is_it(source));
    source_close(source);
    if (st == IMREC_OK || is_absent(name, st, why.sys_errno))
        return IMREC_OK;
    imrec_error_at(err, st, why.offset,
                   "%.400s; whether there is an index is not known: try again, or read without it "
                   "(path_imgidx=none)",
                   why.message);
    imrec_error_errno(err, why.sys_errno);
    return st;
}

enum imrec_status
index_of_shard(const struct index_shard *s, struct index_blocks *out, struct imrec_error *err)
{
    uint8_t head[INDEX_BLOCKS_SHARD_HEAD];
    const size_t n = (size_t)min_u64(s->size, sizeof(head));
    IMREC_TRY(source_read(s->source, 0, head, n, err));
    *out = (struct index_blocks){.shard_bytes = s->size, .shard_crc = crc32c(0, head, n)};
    return IMREC_OK;
}

static enum imrec_status check_size(const char *name, const struct index_shard *s,
                                    const struct index_blocks *h, struct imrec_error *err)
{
    if ((h->flags == INDEX_BLOCKS_EXTENTS) != s->extents)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%.200s is the index of a %s, %.200s is none",
                          name, s->extents ? "RecordIO shard" : "tar archive or TFRecord file",
                          s->uri);
    if (h->shard_bytes != s->size)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%.200s is the index of a shard of %" PRIu64 " bytes, %.200s has "
                          "%" PRIu64,
                          name, h->shard_bytes, s->uri, s->size);
    return IMREC_OK;
}

enum imrec_status index_check_shard(const char *name, const struct index_shard *s,
                                    const struct index_blocks *h, struct imrec_error *err)
{
    struct index_blocks is;
    IMREC_TRY(index_of_shard(s, &is, err));
    if (h->shard_crc != is.shard_crc)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%.200s is the index of another shard than %.200s: the checksum of the "
                          "shard's first bytes is 0x%08" PRIx32
                          " in it, the shard has 0x%08" PRIx32,
                          name, s->uri, h->shard_crc, is.shard_crc);
    return IMREC_OK;
}

static enum imrec_status read_head(const char *name, const struct index_shard *s, struct source *f,
                                   struct index_blocks *out, struct imrec_error *err)
{
    uint8_t head[INDEX_BLOCKS_HEAD_BYTES];
    const size_t n = (size_t)min_u64(f->size, sizeof(head));
    IMREC_TRY(source_read(f, 0, head, n, err));
    IMREC_TRY(index_blocks_read_head(name, (struct bytes){head, n}, f->size, out, err));
    return check_size(name, s, out, err);
}

enum imrec_status index_open(const char *name, const struct index_shard *s, struct source **f,
                             struct index_blocks *out, struct imrec_error *err)
{
    IMREC_TRY(source_open(name, f, err));
    const enum imrec_status st = read_head(name, s, *f, out, err);
    if (st != IMREC_OK) {
        source_close(*f);
        *f = NULL;
    }
    return st;
}

/* ---- blocks ------------------------------------------------------------------------------- */

struct reading {
    const char *name;
    const struct index_blocks *h;
    uint64_t begin, end; /* entries that are wanted */
    uint64_t last;       /* offset of the one before; 0: none was read */
    index_take *take;
    void *user;
    struct index_entry entry[INDEX_BLOCKS_ENTRIES];
    uint8_t bytes[AT_A_TIME * INDEX_BLOCKS_BLOCK_BYTES];
};

/* What of block k is wanted. */
static enum imrec_status
give_block(struct reading *r, uint64_t k, const uint8_t *p, struct imrec_error *err)
{
    const uint64_t first = k * INDEX_BLOCKS_ENTRIES;
    const uint64_t n = index_blocks_entries(r->h, k);
    IMREC_TRY(index_blocks_read(r->name, r->h, k, p, r->entry, err));
    if (r->last != 0 && r->entry[0].offset <= r->last)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, index_blocks_begin(k),
                              "%s: offset %" PRIu64 " follows %" PRIu64 "; they must ascend",
                              r->name, r->entry[0].offset, r->last);
    r->last = r->entry[n - 1].offset;
    const uint64_t from = r->begin > first ? r->begin - first : 0;
    const uint64_t to = min_u64(n, r->end - first);
    return r->take(r->user, r->entry + from, (size_t)(to - from), err);
}

static enum imrec_status read_blocks(struct reading *r, struct source *f, struct imrec_error *err)
{
    const uint64_t end = (r->end - 1) / INDEX_BLOCKS_ENTRIES + 1;
    for (uint64_t k = r->begin / INDEX_BLOCKS_ENTRIES; k < end;) {
        const uint64_t n = min_u64(end - k, AT_A_TIME), at = index_blocks_begin(k);
        const uint64_t to = min_u64(f->size, index_blocks_begin(k + n));
        IMREC_TRY(source_read(f, at, r->bytes, (size_t)(to - at), err));
        for (uint64_t i = 0; i < n; i++)
            IMREC_TRY(give_block(r, k + i, r->bytes + i * INDEX_BLOCKS_BLOCK_BYTES, err));
        k += n;
    }
    return IMREC_OK;
}

enum imrec_status index_read(const char *name, struct source *f, const struct index_blocks *h,
                             uint64_t begin, uint64_t end, index_take *take, void *user,
                             struct imrec_error *err)
{
    if (begin >= end)
        return IMREC_OK;
    struct reading *r = imrec_realloc(NULL, 1, sizeof(*r));
    if (r == NULL)
        return IMREC_NO_MEMORY(err, "no memory for blocks of %s", name);
    r->name = name;
    r->h = h;
    r->begin = begin;
    r->end = end;
    r->last = 0;
    r->take = take;
    r->user = user;
    const enum imrec_status st = read_blocks(r, f, err);
    imrec_free(r);
    return st;
}

enum imrec_status index_load(const char *name, const struct index_shard *s, index_take *take,
                             void *user, struct index_blocks *out, struct imrec_error *err)
{
    struct source *f;
    IMREC_TRY(index_open(name, s, &f, out, err));
    enum imrec_status st = index_check_shard(name, s, out, err);
    if (st == IMREC_OK) {
        source_will_need(f, 0, f->size);
        st = index_read(name, f, out, 0, out->count, take, user, err);
    }
    source_close(f);
    return st;
}

/* ---- writing ------------------------------------------------------------------------------ */

enum imrec_status index_write(struct sink *to, struct index_blocks *h, const struct index_entry *e,
                              uint64_t n, struct imrec_error *err)
{
    uint8_t head[INDEX_BLOCKS_HEAD_BYTES];
    h->count = n;
    if (h->flags != INDEX_BLOCKS_EXTENTS)
        h->flags = (h->flags & INDEX_BLOCKS_COMPLETE) | index_blocks_plain(e, n, h->shard_bytes);
    h->hash_after = h->hash_before;
    for (uint64_t i = 0; i < n; i++)
        h->hash_after = index_blocks_hash(h->hash_after, h->number, e[i]);
    index_blocks_write_head(h, head);
    IMREC_TRY(sink_append(to, head, sizeof(head), err));
    uint8_t *block = imrec_realloc(NULL, INDEX_BLOCKS_BLOCK_BYTES, 1);
    if (block == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a block of an index");
    enum imrec_status st = IMREC_OK;
    for (uint64_t k = 0; st == IMREC_OK && k < index_blocks_total(h); k++) {
        const size_t bytes =
            index_blocks_write(k, e + k * INDEX_BLOCKS_ENTRIES, index_blocks_entries(h, k), block);
        st = sink_append(to, block, bytes, err);
    }
    imrec_free(block);
    return st;
}
