/* container/index_load.c - the binary index of a shard: one read of the header, then one a block.
 * What is held is a block, however large the index is. */
#include "container/index_load.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/crc32c.h"

#include <inttypes.h>

#define SUFFIX ".idxb"

bool index_is_binary(const char *name)
{
    const size_t n = source_name_bytes(name), suffix = strlen(SUFFIX);
    return n >= suffix && memcmp(name + n - suffix, SUFFIX, suffix) == 0;
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

static enum imrec_status check_shard(const char *name, const struct index_shard *s,
                                     const struct index_blocks *h, struct imrec_error *err)
{
    struct index_blocks is;
    if (h->shard_bytes != s->size)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%.200s is the index of a shard of %" PRIu64 " bytes, %.200s has "
                          "%" PRIu64,
                          name, h->shard_bytes, s->uri, s->size);
    IMREC_TRY(index_of_shard(s, &is, err));
    if (h->shard_crc != is.shard_crc)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%.200s is the index of another shard than %.200s: the checksum of the "
                          "shard's first bytes is 0x%08" PRIx32
                          " in it, the shard has 0x%08" PRIx32,
                          name, s->uri, h->shard_crc, is.shard_crc);
    return IMREC_OK;
}

struct block {
    uint8_t bytes[INDEX_BLOCKS_BLOCK_BYTES];
    struct index_entry entry[INDEX_BLOCKS_ENTRIES];
};

static enum imrec_status give_blocks(const char *name, struct source *f,
                                     const struct index_blocks *h, struct block *b,
                                     index_take *take, void *user, struct imrec_error *err)
{
    uint64_t last = 0;
    for (uint64_t k = 0; k < index_blocks_total(h); k++) {
        const size_t n = index_blocks_entries(h, k);
        const uint64_t begin = index_blocks_begin(k);
        IMREC_TRY(source_read(f, begin, b->bytes, n * INDEX_BLOCKS_ENTRY_BYTES + 4, err));
        IMREC_TRY(index_blocks_read(name, h, k, b->bytes, b->entry, err));
        if (k != 0 && b->entry[0].offset <= last)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, begin,
                                  "%s: offset %" PRIu64 " follows %" PRIu64 "; they must ascend",
                                  name, b->entry[0].offset, last);
        last = b->entry[n - 1].offset;
        IMREC_TRY(take(user, b->entry, n, err));
    }
    return IMREC_OK;
}

static enum imrec_status load_from(const char *name, struct source *f, const struct index_shard *s,
                                   index_take *take, void *user, struct imrec_error *err)
{
    uint8_t head[INDEX_BLOCKS_HEAD_BYTES];
    struct index_blocks h;
    const size_t n = (size_t)min_u64(f->size, sizeof(head));
    IMREC_TRY(source_read(f, 0, head, n, err));
    IMREC_TRY(index_blocks_read_head(name, (struct bytes){head, n}, f->size, &h, err));
    IMREC_TRY(check_shard(name, s, &h, err));
    source_will_need(f, 0, f->size);
    struct block *b = imrec_realloc(NULL, 1, sizeof(*b));
    if (b == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a block of %s", name);
    const enum imrec_status st = give_blocks(name, f, &h, b, take, user, err);
    imrec_free(b);
    return st;
}

enum imrec_status index_load(const char *name, const struct index_shard *s, index_take *take,
                             void *user, struct imrec_error *err)
{
    struct source *f;
    IMREC_TRY(source_open(name, &f, err));
    const enum imrec_status st = load_from(name, f, s, take, user, err);
    source_close(f);
    return st;
}
