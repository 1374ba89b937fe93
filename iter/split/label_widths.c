/* iter/split/label_widths.c - the widest label, from manifests or the records' heads. */
#include "iter/split/label_widths.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/image_record.h"
#include "formats/manifest.h"
#include "formats/set_names.h"
#include "iter/split/scan.h"

#include <string.h>

/* ---- what the packer left behind ----------------------------------------------------------- */

static bool vouches(const struct manifest *m, const struct shard *h)
{
    for (size_t i = 0; i < m->shard_count; i++)
        if (m->shards[i].rec.bytes == h->size &&
            strcmp(m->shards[i].rec.name, set_base_name(h->uri)) == 0)
            return true;
    return false;
}

/* The label width of the manifest beside a shard; 0: there is none that vouches for it. */
static enum imrec_status
told_by_manifest(const struct shard *h, uint32_t *width, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    struct manifest m = {0};
    char *name = imrec_realloc(NULL, SET_NAME_ROOM(strlen(h->uri)), 1);
    *width = 0;
    if (name == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory to look for a manifest");
    set_name(h->uri, SET_MANIFEST, name);
    if (source_load(name, MANIFEST_MAX_BYTES, &text, &n, NULL) == IMREC_OK) {
        if (manifest_read(name, (struct bytes){text, n}, &m, NULL) == IMREC_OK && vouches(&m, h))
            *width = m.label_width;
        manifest_free(&m);
        imrec_free(text);
    }
    imrec_free(name);
    return IMREC_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

static uint32_t labels_of(const struct scan *scan, const struct walk_item *item)
{
    struct image_record r;
    const struct bytes b = recordio_join(scan_bytes(scan, item), &item->span);
    return image_record_parse(b, &r, NULL) == IMREC_OK ? r.label_count : 0;
}

static enum imrec_status
read_shard(struct scan *scan, const struct shard *h, uint32_t *widest, struct imrec_error *err)
{
    struct walk_item item;
    enum walk_step step;
    scan_begin(scan, h->source, 0, h->size, true);
    do {
        IMREC_TRY(scan_next(scan, &step, &item, err));
        const uint32_t n = step == WALK_RECORD ? labels_of(scan, &item) : 0;
        *widest = n > *widest ? n : *widest;
    } while (step != WALK_END);
    return IMREC_OK;
}

enum imrec_status
split_widest_label(const struct split *s, bool may_read, uint32_t *widest, struct imrec_error *err)
{
    struct scan scan = {0};
    enum imrec_status st = IMREC_OK;
    *widest = 0;
    for (uint32_t i = 0; st == IMREC_OK && i < s->shard_count; i++) {
        uint32_t n;
        if ((st = told_by_manifest(&s->shards[i], &n, err)) != IMREC_OK)
            break;
        *widest = n > *widest ? n : *widest;
        if (n == 0 && may_read)
            st = read_shard(&scan, &s->shards[i], widest, err);
    }
    scan_end(&scan);
    return st;
}
