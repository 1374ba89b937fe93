#include "iter/split/picture_reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "iter/split/cbf_pictures.h"
#include "iter/split/value_bmp.h"

#include <inttypes.h>
#include <string.h>

static enum imrec_status make_room(uint8_t **p, size_t *room, size_t need, struct imrec_error *err)
{
    if (need <= *room && *p != NULL)
        return IMREC_OK;
    imrec_free(*p);
    *room = 0;
    *p = imrec_realloc(NULL, need + need / 2 + 16, 1);
    if (*p == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory for a picture of %zu bytes", need);
    *room = need + need / 2 + 16;
    return IMREC_OK;
}

/* The picture's bytes, behind a count that has to be right. */
static enum imrec_status
load(struct picture_reader *r, struct split_range range, struct imrec_error *err)
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
take_labels(struct picture_reader *r, struct imrec_record *out, struct imrec_error *err)
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
take_decoded(struct picture_reader *r, struct imrec_record *out, struct imrec_error *err)
{
    const struct cbf_pictures *c = r->split->cbf;
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

static enum imrec_status give(struct picture_reader *r, struct split_range range,
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

enum imrec_status
picture_reader_next(struct picture_reader *r, struct imrec_record *out, struct imrec_error *err)
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

void picture_reader_seek(struct picture_reader *r, uint32_t shard, uint64_t offset)
{
    const struct indexed_record *rec = r->split->records;
    for (r->unit = 0; r->unit < r->split->unit_count; r->unit++)
        if (rec[r->unit].shard > shard ||
            (rec[r->unit].shard == shard && rec[r->unit].offset >= offset))
            return;
}

void picture_reader_free(struct picture_reader *r)
{
    imrec_free(r->buffer);
    imrec_free(r->bmp);
    imrec_free(r->labels);
    *r = (struct picture_reader){0};
}
