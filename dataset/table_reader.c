/* dataset/table_reader.c - the records of a kind that lists them, one by one. */
#include "dataset/table_reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/recordio/image_record.h"

#include <inttypes.h>

#define RECORD_MOST ((size_t)1 << 32)
#define LABELS_MOST 4096u /* of a source, which writes them into a room of this size */

void table_reader_init(struct table_reader *r, const struct container *c)
{
    *r = (struct table_reader){.container = c,
                               .bytes = BUF_INIT(RECORD_MOST),
                               .rest = BUF_INIT(RECORD_MOST),
                               .file = BUF_INIT(RECORD_MOST)};
}

/* Room for `n` bytes, some to spare: records differ a little. */
static enum imrec_status make_room(struct buf *b, uint64_t n, struct imrec_error *err)
{
    if (n <= b->cap && b->p != NULL)
        return IMREC_OK;
    buf_free(b);
    if (n > RECORD_MOST / 2)
        return imrec_fail(err, IMREC_ERR_LIMIT, "the record has %" PRIu64 " bytes, more than 2 GiB",
                          n);
    return buf_reserve(b, (size_t)(n + n / 2 + 16), err);
}

static enum imrec_status
load_rest(struct table_reader *r, struct record_ref *ref, struct imrec_error *err)
{
    const struct container *c = r->container;
    const struct unit_range at = c->kind->rest(c, r->unit);
    const uint64_t n = at.end - at.begin;
    if (n == 0)
        return IMREC_OK;
    IMREC_TRY(make_room(&r->rest, n, err));
    IMREC_TRY(source_read(c->shards[at.shard].source, at.begin, r->rest.p, (size_t)n, err));
    return c->kind->open_rest(c, r->unit, r->rest.p, &ref->rest, err);
}

/* The record out of its bytes, all of which are read. */
static enum imrec_status load(struct table_reader *r, struct record_ref *ref,
                              const struct record_place *at, struct imrec_error *err)
{
    const struct container *c = r->container;
    const uint64_t n = at->end - at->begin;
    const struct imrec_error *why = c->kind->lost != NULL ? c->kind->lost(c, r->unit) : NULL;
    uint64_t used;
    ref->lost = why != NULL;
    if (ref->lost) {
        *err = *why;
        return why->status;
    }
    IMREC_TRY(make_room(&r->bytes, n, err));
    IMREC_TRY(source_read(c->shards[at->shard].source, at->begin, r->bytes.p, (size_t)n, err));
    IMREC_TRY(c->kind->open(c, at, r->bytes.p, (size_t)n, &ref->bytes, &used, err));
    return c->kind->rest != NULL ? load_rest(r, ref, err) : IMREC_OK;
}

static enum imrec_status take_labels(struct table_reader *r, const struct record *record,
                                     struct imrec_record *out, struct imrec_error *err)
{
    const uint32_t n = (uint32_t)(record->labels.n / sizeof(float));
    if (!IMREC_GROW(r->labels, r->label_room, (uint64_t)n + 1)) /* never NULL */
        return IMREC_NO_MEMORY(err, "no memory for labels");
    for (uint32_t i = 0; i < n; i++)
        r->labels[i] = record_label(record, i);
    out->labels = r->labels;
    out->label_count = n;
    return image_record_shift(r->labels, n, r->container->options.label_offset, err);
}

static enum imrec_status take_image(struct table_reader *r, const struct record *record,
                                    struct imrec_record *out, struct imrec_error *err)
{
    const struct container *c = r->container;
    out->image = record->image.p;
    out->image_size = record->image.n;
    out->mask = record->mask.n != 0 ? record->mask.p : NULL;
    out->mask_size = record->mask.n;
    out->is_image = record->pixels.p == NULL;
    if (out->is_image || c->kind->as_file == NULL)
        return IMREC_OK;
    r->file.n = 0;
    IMREC_TRY(c->kind->as_file(c, record, &r->file, err));
    out->is_image = r->file.n != 0;
    if (!out->is_image)
        return IMREC_OK;
    out->data = out->image = r->file.p;
    out->size = out->image_size = r->file.n;
    return IMREC_OK;
}

static enum imrec_status give(struct table_reader *r, struct record_ref *ref,
                              struct imrec_record *out, struct imrec_error *err)
{
    const struct container *c = r->container;
    struct record *const record = &r->last;
    if (c->kind->rooms && r->parse.labels == NULL)
        IMREC_TRY(
            parse_room_init(&r->parse, LABELS_MOST, IMREC_LABEL_FLOAT32, (int64_t)1 << 29, err));
    IMREC_TRY(c->kind->parse(c, ref, RECORD_PARTS, &r->parse, record, err));
    *out = (struct imrec_record){.data = ref->bytes.p,
                                 .size = ref->bytes.n,
                                 .uri = c->shards[ref->shard].uri,
                                 .shard = ref->shard,
                                 .offset = ref->offset,
                                 .id = record->id,
                                 .id2 = record->id2};
    IMREC_TRY(take_labels(r, record, out, err));
    for (uint32_t i = 0; i < record->field_count; i++)
        IMREC_TRY(given_fields_put(&r->fields, i, &record->fields[i], err));
    out->fields = record->field_count != 0 ? r->fields.fields : NULL;
    out->field_count = record->field_count;
    return take_image(r, record, out, err);
}

enum imrec_status
table_reader_next(struct table_reader *r, struct imrec_record *out, struct imrec_error *err)
{
    const struct container *c = r->container;
    struct imrec_error why;
    char place[96];
    if (r->unit == c->unit_count)
        return IMREC_END;
    struct record_place at = {.number = r->unit};
    IMREC_TRY(container_locate(c, &at, 1, err));
    struct record_ref ref = {.offset = at.begin, .key = at.key, .unit = r->unit, .shard = at.shard};
    enum imrec_status st = load(r, &ref, &at, &why);
    if (st == IMREC_OK)
        st = give(r, &ref, out, &why);
    r->unit++;
    if (st == IMREC_OK)
        return IMREC_OK;
    if (st == IMREC_ERR_NO_MEMORY)
        return imrec_error_at(err, st, why.offset, "%s", why.message);
    r->damage = (struct unit_range){at.shard, at.begin, at.end};
    ref.lost = true;
    const uint64_t byte = container_describe(c, &ref, &why, place);
    imrec_error_at(err, IMREC_ERR_DATA, byte, "%.160s: %s: %.250s", c->shards[at.shard].uri, place,
                   why.message);
    imrec_error_file(err, c->shards[at.shard].uri);
    imrec_error_errno(err, why.sys_errno);
    return IMREC_ERR_DATA;
}

void table_reader_seek(struct table_reader *r, uint32_t shard, uint64_t offset)
{
    const struct indexed_record *rec = r->container->records;
    for (r->unit = 0; r->unit < r->container->unit_count; r->unit++)
        if (rec[r->unit].shard > shard ||
            (rec[r->unit].shard == shard && rec[r->unit].offset >= offset))
            return;
}

void table_reader_free(struct table_reader *r)
{
    buf_free(&r->bytes);
    buf_free(&r->rest);
    buf_free(&r->file);
    parse_room_free(&r->parse);
    given_fields_free(&r->fields);
    imrec_free(r->labels);
    *r = (struct table_reader){0};
}
