/* container/recordio_widths.c - the widest label: from manifests, else from records, of which only
 * the heads are read where an index next to the shard names them. */
#include "container/recordio_kind.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/metadata.h"
#include "container/record_head.h"
#include "container/record_table.h"
#include "container/shards/manifest_beside.h"
#include "container/walk/recordio_scan.h"
#include "formats/recordio/image_record.h"

#define AHEAD 32u /* heads announced to the system before they are read */

/* ---- heads that an index names --------------------------------------------------------------- */

/* True where the records fill the shard without gaps: then none is missing. */
static bool read_heads(const struct container *s, uint32_t shard, const struct indexed_record *r,
                       uint64_t n, uint32_t *widest)
{
    const struct shard *h = &s->shards[shard];
    for (uint64_t i = 0; i < n && i < AHEAD; i++)
        source_will_need(h->source, r[i].offset, RECORD_HEAD_BYTES);
    if (n == 0 || r[0].offset != 0)
        return h->size == 0;
    for (uint64_t i = 0; i < n; i++) {
        struct record_head head;
        if (n - i > AHEAD)
            source_will_need(h->source, r[i + AHEAD].offset, RECORD_HEAD_BYTES);
        if (!record_head_read(h, r[i].offset, i + 1 < n ? r[i + 1].offset : h->size, &head))
            return false;
        const uint32_t count = !head.is_image ? 0 : head.flag != 0 ? head.flag : 1;
        if (count > *widest && metadata_at(s, shard, r[i].offset) == NULL)
            *widest = count;
    }
    return true;
}

/* Reads the heads at the places that the index next to the shard names. False where there is none,
 * or where it does not have all records. */
static enum imrec_status width_of_heads(const struct container *s, uint32_t shard, bool *known,
                                        uint32_t *widest, struct imrec_error *err)
{
    uint32_t n = 0;
    struct indexed_record *records;
    uint64_t count;
    IMREC_TRY(record_table_beside(&s->shards[shard], &records, &count, err));
    *known = records != NULL && read_heads(s, shard, records, count, &n);
    if (*known && n > *widest)
        *widest = n;
    imrec_free(records);
    return IMREC_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

static uint32_t labels_of(const struct scan *scan, const struct walk_item *item)
{
    struct image_record r;
    const struct bytes b = recordio_join(scan_bytes(scan, item), &item->span);
    return image_record_parse(b, &r, NULL) == IMREC_OK ? r.label_count : 0;
}

static enum imrec_status read_shard(struct scan *scan, const struct container *s, uint32_t shard,
                                    uint32_t *widest, struct imrec_error *err)
{
    const struct shard *h = &s->shards[shard];
    struct walk_item item;
    enum walk_step step;
    scan_begin(scan, h->source, 0, h->size, true);
    do {
        IMREC_TRY(scan_next(scan, &step, &item, err));
        const uint32_t n = step == WALK_RECORD ? labels_of(scan, &item) : 0;
        if (n > *widest && metadata_at(s, shard, item.begin) == NULL)
            *widest = n;
    } while (step != WALK_END);
    return IMREC_OK;
}

static enum imrec_status widest_of_shard(const struct container *s, uint32_t shard, bool may_read,
                                         struct manifest_beside *b, struct scan *scan,
                                         uint32_t *widest, struct imrec_error *err)
{
    const struct shard *h = &s->shards[shard];
    const struct manifest_shard *entry;
    IMREC_TRY(manifest_beside_shard(b, h->uri, h->size, &entry, err));
    const uint32_t width = entry != NULL ? b->manifest.label_width : 0;
    bool known = width != 0 || !may_read;
    *widest = width > *widest ? width : *widest;
    if (!known)
        IMREC_TRY(width_of_heads(s, shard, &known, widest, err));
    return known ? IMREC_OK : read_shard(scan, s, shard, widest, err);
}

enum imrec_status recordio_widest_label(const struct container *s, bool may_read, uint32_t *widest,
                                        struct imrec_error *err)
{
    struct scan scan = {0};
    struct manifest_beside b = {0};
    enum imrec_status st = IMREC_OK;
    *widest = 0;
    for (uint32_t i = 0; st == IMREC_OK && i < s->shard_count; i++)
        st = widest_of_shard(s, i, may_read, &b, &scan, widest, err);
    manifest_beside_free(&b);
    scan_end(&scan);
    return st;
}
