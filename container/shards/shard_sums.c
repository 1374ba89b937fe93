/* container/shards/shard_sums.c - the checksums next to a shard, and records compared with them. */
#include "container/shards/shard_sums.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/set/set_names.h"
#include "storage/sink.h"
#include "storage/source.h"

#define FILE_MAX_BYTES ((size_t)1 << 36)

static enum imrec_status
open_table(const char *path, size_t n, struct shard_sums *out, struct imrec_error *err)
{
    struct checksums c;
    IMREC_TRY(checksums_open(path, (struct bytes){out->bytes, n}, &c, err));
    return checksum_table_make(&c, &out->table, err);
}

static enum imrec_status load(const char *path, struct shard_sums *out, struct imrec_error *err)
{
    size_t n;
    IMREC_TRY(source_load_if_there(path, FILE_MAX_BYTES, &out->bytes, &n, err));
    out->found = out->bytes != NULL;
    if (!out->found)
        return IMREC_OK;
    const enum imrec_status st = open_table(path, n, out, err);
    if (st != IMREC_OK)
        shard_sums_free(out);
    return st;
}

enum imrec_status
shard_sums_load(const char *shard, struct shard_sums *out, struct imrec_error *err)
{
    char *path = set_path(shard, SET_CHECKSUMS);
    *out = (struct shard_sums){0};
    if (path == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    const enum imrec_status st = load(path, out, err);
    imrec_free(path);
    return st;
}

enum imrec_status shard_sums_compare(const struct shard_sums *s, uint64_t offset,
                                     struct bytes framed, struct checksum *sum,
                                     struct imrec_error *err)
{
    if (!checksum_table_at(&s->table, offset, sum) || sum->offset != offset)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, offset, "the checksums have no record here");
    if (sum->framed_bytes != framed.n)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, offset,
                              "the record has %zu bytes, its checksum is of %u", framed.n,
                              sum->framed_bytes);
    const uint32_t crc = crc32c(0, framed.p, framed.n);
    if (crc == sum->crc)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, offset,
                          "the record's checksum is 0x%08x, its bytes have 0x%08x", sum->crc, crc);
}

void shard_sums_free(struct shard_sums *s)
{
    checksum_table_free(&s->table);
    imrec_free(s->bytes);
    *s = (struct shard_sums){0};
}
