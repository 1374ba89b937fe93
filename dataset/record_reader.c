/* dataset/record_reader.c - imrec_reader_*: the records of a partition, one by one. */
#include "dataset/record_reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/cbf.h"
#include "container/value_bmp.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_mask.h"

#include <inttypes.h>
#include <string.h>

#define FRAMED_MAX ((size_t)1 << 31) /* a record of 2^29 bytes, cut at every word, is smaller */

static enum imrec_status no_memory(struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory to read records");
}

/* ---- images of CBF files ------------------------------------------------------------------------
 */

static enum imrec_status make_room(uint8_t **p, size_t *room, size_t need, struct imrec_error *err)
{
    if (need <= *room && *p != NULL)
        return IMREC_OK;
    imrec_free(*p);
    *room = 0;
    *p = imrec_realloc(NULL, need + need / 2 + 16, 1);
    if (*p == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory for an image of %zu bytes", need);
    *room = need + need / 2 + 16;
    return IMREC_OK;
}

/* The image's bytes, behind a count that has to be right. */
static enum imrec_status
load(struct image_reader *r, struct split_range range, struct imrec_error *err)
{
    const struct split *s = r->split;
    const struct imrec_error *why = cbf_loss(s, r->unit);
    if (why != NULL) {
        *err = *why;
        return why->status;
    }
    IMREC_TRY(make_room(&r->buffer, &r->room, (size_t)(range.end - range.begin), err));
    IMREC_TRY(source_read(s->shards[range.shard].source, range.begin, r->buffer,
                          (size_t)(range.end - range.begin), err));
    return cbf_check_count(s, r->unit, r->buffer, err);
}

static enum imrec_status
take_labels(struct image_reader *r, struct imrec_record *out, struct imrec_error *err)
{
    const uint32_t n = r->split->cbf->label_count;
    const struct bytes stored = cbf_labels(r->split, r->unit);
    if (r->labels == NULL)
        r->labels = imrec_zalloc((size_t)n + 1, sizeof(*r->labels));
    if (r->labels == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for labels");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bits = load_le32(stored.p + 4 * (size_t)i);
        memcpy(&r->labels[i], &bits, sizeof(bits));
    }
    out->labels = r->labels;
    out->label_count = n;
    return IMREC_OK;
}

static enum imrec_status
take_decoded(struct image_reader *r, struct imrec_record *out, struct imrec_error *err)
{
    const struct cbf_images *c = r->split->cbf;
    uint32_t channels;
    const uint32_t side = value_bmp_side(c->values, &channels);
    if (side == 0)
        return IMREC_OK; /* a record that is no image */
    const size_t n = value_bmp_bytes(side, channels);
    IMREC_TRY(make_room(&r->bmp, &r->bmp_room, n, err));
    if (!value_bmp_write(out->data, c->element == STREAM_DOUBLE, side, channels, r->bmp))
        return IMREC_OK;
    out->is_image = true;
    out->data = out->image = r->bmp;
    out->size = out->image_size = n;
    return IMREC_OK;
}

static enum imrec_status give(struct image_reader *r, struct split_range range,
                              struct imrec_record *out, struct imrec_error *err)
{
    const struct indexed_record *rec = &r->split->records[r->unit];
    *out = (struct imrec_record){.data = r->buffer + 4,
                                 .size = rec->bytes,
                                 .uri = r->split->shards[range.shard].uri,
                                 .shard = range.shard,
                                 .offset = range.begin,
                                 .id = rec->key};
    IMREC_TRY(take_labels(r, out, err));
    if (r->split->cbf->pixels)
        return take_decoded(r, out, err);
    out->is_image = true;
    out->image = out->data;
    out->image_size = out->size;
    return IMREC_OK;
}

/* A decoded image is given as a BMP file, where its values are pixels and its shape can be told;
 * else as a record that is no image. */
static enum imrec_status
image_reader_next(struct image_reader *r, struct imrec_record *out, struct imrec_error *err)
{
    struct imrec_error why;
    if (r->unit == r->split->unit_count)
        return IMREC_END;
    const struct split_range range = split_unit(r->split, r->unit);
    enum imrec_status st = load(r, range, &why);
    if (st == IMREC_OK)
        st = give(r, range, out, &why);
    const uint64_t sequence = cbf_sequence_number(r->split, r->unit);
    r->unit++;
    if (st == IMREC_OK)
        return IMREC_OK;
    if (st == IMREC_ERR_NO_MEMORY)
        return imrec_error_at(err, st, why.offset, "%s", why.message);
    r->damage = range;
    const uint64_t at = why.offset != IMREC_NO_OFFSET ? why.offset : range.begin;
    imrec_error_at(err, IMREC_ERR_DATA, at,
                   "%.160s: sequence %" PRIu64 ", byte %" PRIu64 ": %.250s",
                   r->split->shards[range.shard].uri, sequence, at, why.message);
    if (err != NULL)
        err->sys_errno = why.sys_errno;
    return IMREC_ERR_DATA;
}

void image_reader_seek(struct image_reader *r, uint32_t shard, uint64_t offset)
{
    const struct indexed_record *rec = r->split->records;
    for (r->unit = 0; r->unit < r->split->unit_count; r->unit++)
        if (rec[r->unit].shard > shard ||
            (rec[r->unit].shard == shard && rec[r->unit].offset >= offset))
            return;
}

static void image_reader_free(struct image_reader *r)
{
    imrec_free(r->buffer);
    imrec_free(r->bmp);
    imrec_free(r->labels);
    *r = (struct image_reader){0};
}

/* ---- opening ------------------------------------------------------------------------------------
 */

enum imrec_status imrec_reader_open_as(const struct split_options *options,
                                       struct imrec_reader **out, struct imrec_error *err)
{
    struct split_options o = *options;
    o.cell_bytes = (uint64_t)1 << 40;
    *out = NULL;
    struct imrec_reader *r = imrec_zalloc(1, sizeof(*r));
    if (r == NULL)
        return no_memory(err);
    const enum imrec_status st = split_open(&o, &r->split, err);
    r->images.split = &r->split;
    r->parts = BUF_INIT(FRAMED_MAX);
    if (st != IMREC_OK)
        imrec_reader_close(r);
    else
        *out = r;
    return st;
}

enum imrec_status imrec_reader_open(const char *uri, uint64_t part_index, uint64_t num_parts,
                                    struct imrec_reader **out, struct imrec_error *err)
{
    const struct split_options o = {
        .path_imgrec = uri, .num_parts = num_parts, .part_index = part_index};
    return imrec_reader_open_as(&o, out, err);
}

enum imrec_status imrec_reader_open_files(const char *uri, uint64_t part_index, uint64_t num_parts,
                                          struct imrec_reader **out, struct imrec_error *err)
{
    const struct split_options o = {.path_imgrec = uri,
                                    .num_parts = num_parts,
                                    .part_index = part_index,
                                    .look = SPLIT_LOOK_FILE};
    return imrec_reader_open_as(&o, out, err);
}

/* ---- what a record says about itself
 * --------------------------------------------------------------- */

enum imrec_status
reader_room_for_labels(struct imrec_reader *r, uint32_t count, struct imrec_error *err)
{
    if (count <= r->label_room)
        return IMREC_OK;
    float *grown = imrec_realloc(r->labels, count, sizeof(*grown));
    if (grown == NULL)
        return no_memory(err);
    r->labels = grown;
    r->label_room = count;
    return IMREC_OK;
}

static enum imrec_status
copy_labels(struct imrec_reader *r, const struct image_record *image, struct imrec_error *err)
{
    IMREC_TRY(reader_room_for_labels(r, image->label_count, err));
    for (uint32_t i = 0; i < image->label_count; i++)
        r->labels[i] = image_record_label(image, i);
    return IMREC_OK;
}

/* The record's bytes before its parts are joined, which moves all but those of a single one. */
static enum imrec_status
keep_framed(struct imrec_reader *r, const struct walk_item *item, struct imrec_error *err)
{
    const uint8_t *p = scan_bytes(&r->scan, item);
    r->framed = (struct bytes){p, item->span.bytes};
    if (!r->keep_framed || item->span.parts == 1)
        return IMREC_OK;
    r->parts.n = 0;
    IMREC_TRY(buf_append(&r->parts, p, item->span.bytes, err));
    r->framed.p = r->parts.p;
    return IMREC_OK;
}

static enum imrec_status give_record(struct imrec_reader *r, const struct walk_item *item,
                                     struct imrec_record *out, struct imrec_error *err)
{
    struct image_record head;
    struct bytes image, mask;
    IMREC_TRY(keep_framed(r, item, err));
    const struct bytes b = recordio_join(scan_bytes(&r->scan, item), &item->span);
    *out = (struct imrec_record){.data = b.p,
                                 .size = b.n,
                                 .uri = r->split.shards[r->shard].uri,
                                 .shard = r->shard,
                                 .offset = item->begin};
    if (image_record_parse(b, &head, NULL) != IMREC_OK)
        return IMREC_OK;
    IMREC_TRY(copy_labels(r, &head, err));
    out->is_image = true;
    out->id = head.id;
    out->id2 = head.id2;
    out->labels = r->labels;
    out->label_count = head.label_count;
    const bool found = record_mask_split(head.image, &image, &mask, NULL) == IMREC_OK;
    out->image = image.p; /* all, where the trailer is wrong */
    out->image_size = image.n;
    out->mask = found ? mask.p : NULL;
    out->mask_size = found ? mask.n : 0;
    const struct metadata_record *m = metadata_at(&r->split, r->shard, item->begin);
    out->metadata = m == NULL ? IMREC_NO_METADATA : m->header ? IMREC_HEADER : IMREC_IDENTITY;
    return IMREC_OK;
}

static enum imrec_status
give_damage(struct imrec_reader *r, const struct walk_item *item, struct imrec_error *err)
{
    r->damage = (struct damage){r->shard, item->begin, item->end};
    imrec_error_at(err, IMREC_ERR_DATA, item->begin,
                   "%s: bytes %" PRIu64 " to %" PRIu64 " hold no readable record: %s",
                   r->split.shards[r->shard].uri, item->begin, item->end - 1, item->why.message);
    if (err != NULL)
        err->sys_errno = item->why.sys_errno;
    return IMREC_ERR_DATA;
}

/* ---- walking
 * ------------------------------------------------------------------------------------------- */

/* Enters the next shard with bytes of the partition; false at the end. */
static bool enter_shard(struct imrec_reader *r)
{
    for (; r->shard < r->split.shard_count; r->shard++) {
        const struct split_range b = split_clip(&r->split, r->shard, r->split.begin, r->split.end);
        if (b.begin < b.end) {
            scan_begin(&r->scan, r->split.shards[r->shard].source, b.begin, b.end, b.begin == 0);
            r->begun = true;
            return true;
        }
    }
    return false;
}

enum imrec_status
imrec_reader_next(struct imrec_reader *r, struct imrec_record *out, struct imrec_error *err)
{
    if (r->split.cbf != NULL)
        return image_reader_next(&r->images, out, err);
    for (;;) {
        struct walk_item item;
        enum walk_step step;
        if (!r->begun && !enter_shard(r))
            return IMREC_END;
        IMREC_TRY(scan_next(&r->scan, &step, &item, err));
        if (step == WALK_RECORD)
            return give_record(r, &item, out, err);
        if (step == WALK_DAMAGE)
            return give_damage(r, &item, err);
        r->begun = false;
        r->shard++;
    }
}

void imrec_reader_damage(const struct imrec_reader *r, uint32_t *shard, uint64_t *begin,
                         uint64_t *end)
{
    if (r->split.cbf != NULL) {
        *shard = r->images.damage.shard;
        *begin = r->images.damage.begin;
        *end = r->images.damage.end;
        return;
    }
    *shard = r->damage.shard;
    *begin = r->damage.begin;
    *end = r->damage.end;
}

enum imrec_status
imrec_reader_seek(struct imrec_reader *r, uint32_t shard, uint64_t offset, struct imrec_error *err)
{
    if (shard >= r->split.shard_count)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "there is no shard %" PRIu32 ", there are %" PRIu32, shard,
                              r->split.shard_count);
    if (r->split.cbf != NULL) {
        image_reader_seek(&r->images, shard, offset);
        return IMREC_OK;
    }
    const struct split_range b = split_clip(&r->split, shard, r->split.begin, r->split.end);
    if (offset < b.begin || offset >= b.end || offset % RECORDIO_ALIGN != 0)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, offset,
                              "%s: byte %" PRIu64 " is no place for a record of this partition, "
                              "these are multiples of 4 from %" PRIu64 " below %" PRIu64,
                              r->split.shards[shard].uri, offset, b.begin, b.end);
    scan_begin(&r->scan, r->split.shards[shard].source, offset, b.end, true);
    r->shard = shard;
    r->begun = true;
    return IMREC_OK;
}

void imrec_reader_close(struct imrec_reader *r)
{
    if (r == NULL)
        return;
    scan_end(&r->scan);
    image_reader_free(&r->images);
    split_close(&r->split);
    buf_free(&r->parts);
    imrec_free(r->labels);
    imrec_free(r);
}

const struct split *imrec_reader_split(const struct imrec_reader *r)
{
    return &r->split;
}

bool imrec_reader_is_cbf(const struct imrec_reader *r)
{
    return r->split.cbf != NULL;
}

uint64_t imrec_reader_record_end(const struct imrec_reader *r)
{
    return r->split.cbf != NULL && r->images.unit != 0
               ? split_unit(&r->split, r->images.unit - 1).end
               : 0;
}

enum imrec_status
imrec_reader_find(const struct imrec_reader *r, uint64_t id, uint32_t *shard, uint64_t *offset)
{
    const struct indexed_record *rec = r->split.records;
    for (uint64_t i = 0; rec != NULL && i < r->split.unit_count; i++)
        if (rec[i].key == id) {
            *shard = rec[i].shard;
            *offset = rec[i].offset;
            return IMREC_OK;
        }
    return IMREC_END;
}
