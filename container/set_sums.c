/* container/set_sums.c - records compared with their checksums while they are read. */
#include "container/set_sums.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/partition.h"
#include "container/shards/shard_sums.h"
#include "formats/recordio/recordio.h"
#include "formats/set/set_names.h"
#include "storage/at_once.h"
#include "storage/sink.h"

#include <errno.h>

static enum imrec_status no_sums(const char *uri, struct imrec_error *err)
{
    (void)imrec_fail(err, IMREC_ERR_IO,
                     "%.300s has no checksums next to it (.crc), and verify_checksums=1 needs "
                     "them: imrec merge makes a set that has some",
                     uri);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_IO;
}

static enum imrec_status look_for(const char *uri, struct imrec_error *err)
{
    char *path = set_path(uri, SET_CHECKSUMS);
    if (path == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    bool there;
    const enum imrec_status st = sink_exists(path, &there, err);
    imrec_free(path);
    return st != IMREC_OK || there ? st : no_sums(uri, err);
}

/* All ranks refuse the same sets; each loads what it reads. */
static enum imrec_status open_shard(void *context, uint32_t shard, struct imrec_error *err)
{
    struct container *s = context;
    const struct shard *h = &s->shards[shard];
    const struct unit_range r = partition_clip(s, shard, s->begin, s->end);
    if (h->size == 0)
        return IMREC_OK;
    if (r.begin == r.end)
        return look_for(h->uri, err);
    IMREC_TRY(shard_sums_load(h->uri, &s->sums[shard], err));
    return s->sums[shard].found ? IMREC_OK : no_sums(h->uri, err);
}

enum imrec_status set_sums_open(struct container *s, struct imrec_error *err)
{
    if (!s->kind->side_files)
        return IMREC_REFUSE(err,
                            "verify_checksums: %.300s is a %s, and only shards of records have "
                            "checksums of each record",
                            s->shards[0].uri, s->kind->name);
    s->sums = imrec_zalloc(s->shard_count, sizeof(*s->sums));
    if (s->sums == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the checksums of %u shards", s->shard_count);
    return at_once(s->shard_count, s->shard_count != 0 && s->shards[0].source->at_once != 0,
                   open_shard, s, err);
}

enum imrec_status set_sums_compare(const struct container *s, uint32_t shard, uint64_t offset,
                                   struct bytes framed, uint64_t *end, struct imrec_error *err)
{
    struct checksum sum = {0};
    *end = offset + framed.n;
    if (s->sums == NULL)
        return IMREC_OK;
    const enum imrec_status st = shard_sums_compare(&s->sums[shard], offset, framed, &sum, err);
    const uint64_t next = sum.offset == offset ? offset + sum.framed_bytes : sum.offset;
    if (st != IMREC_OK && next > offset && next < *end && next % RECORDIO_ALIGN == 0)
        *end = next;
    return st;
}

uint64_t set_sums_cut_off(const struct container *s, uint32_t shard)
{
    const uint64_t size = s->shards[shard].size;
    const uint64_t whole = s->sums != NULL ? s->sums[shard].table.file.shard_bytes : 0;
    return whole > size ? whole - size : 0;
}

/* An entry, and the place of every 64th record. */
uint64_t set_sums_memory(const struct container *s)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; s->sums != NULL && i < s->shard_count; i++) {
        const uint64_t records = s->sums[i].table.file.records;
        bytes += sizeof(*s->sums) + records * CHECKSUMS_ENTRY_BYTES + records / 64 * 8;
    }
    return bytes;
}

void set_sums_close(struct container *s)
{
    for (uint32_t i = 0; s->sums != NULL && i < s->shard_count; i++)
        shard_sums_free(&s->sums[i]);
    imrec_free(s->sums);
    s->sums = NULL;
}
