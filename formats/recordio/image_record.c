/* formats/recordio/image_record.c - label header and image inside a record. */
#include "formats/recordio/image_record.h"

#include "base/error.h"
#include "formats/recordio/recordio.h"

#include <float.h>

enum { LABEL_OFFSET = 4, ID_OFFSET = 8, ID2_OFFSET = 16 };

enum imrec_status
image_record_parse(struct bytes record, struct image_record *out, struct imrec_error *err)
{
    if (record.n < IMAGE_RECORD_HEADER_BYTES)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "an image record header has %u bytes, the record only %zu",
                          IMAGE_RECORD_HEADER_BYTES, record.n);
    const uint32_t flag = load_le32(record.p);
    const size_t behind = record.n - IMAGE_RECORD_HEADER_BYTES;
    if (flag > behind / sizeof(float))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "flag says %u labels, the record has room for %zu", flag,
                          behind / sizeof(float));
    const uint8_t *labels = record.p + IMAGE_RECORD_HEADER_BYTES;
    const size_t label_bytes = (size_t)flag * sizeof(float);
    *out = (struct image_record){
        .flag = flag,
        .label = load_le_float(record.p + LABEL_OFFSET),
        .id = load_le64(record.p + ID_OFFSET),
        .id2 = load_le64(record.p + ID2_OFFSET),
        .label_count = flag != 0 ? flag : 1,
        .labels = flag != 0 ? (struct bytes){labels, label_bytes}
                            : (struct bytes){record.p + LABEL_OFFSET, sizeof(float)},
        .image = {labels + label_bytes, behind - label_bytes},
    };
    return IMREC_OK;
}

float image_record_label(const struct image_record *r, uint32_t i)
{
    return load_le_float(r->labels.p + (size_t)i * sizeof(float));
}

#define LARGEST_ID 1e20 /* above any number of 64 bits, as in text_keeps_whole() */

bool image_record_holds(double label)
{
    const double size = label < 0 ? -label : label;
    if (!(size <= (double)FLT_MAX)) /* NaN too */
        return false;
    const bool whole = size < LARGEST_ID && (size >= 0x1p53 || (double)(int64_t)size == size);
    return !whole || (double)(float)label == label;
}

enum imrec_status
image_record_shift(float *labels, uint32_t count, int64_t offset, struct imrec_error *err)
{
    for (uint32_t i = 0; offset != 0 && i < count; i++) {
        const double sum = (double)labels[i] + (double)offset;
        if (!image_record_holds(sum))
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "label %.9g and the offset %lld are no number that a float32 has "
                              "exactly",
                              (double)labels[i], (long long)offset);
        labels[i] = (float)sum;
    }
    return IMREC_OK;
}

bool image_record_range(const struct image_record *r, uint64_t *first, uint64_t *end)
{
    if (r->flag != 2 || r->image.n != 0)
        return false;
    const float a = image_record_label(r, 0), b = image_record_label(r, 1);
    if (!(a >= 0 && b < 0x1p63f && (a < b || (a == b && a >= 0x1p24f)))) /* also NaN */
        return false;
    *first = (uint64_t)a;
    *end = (uint64_t)b;
    return (float)*first == a && (float)*end == b;
}

enum imrec_status image_record_head(struct buf *out, const float *labels, uint32_t label_count,
                                    bool force_flag, uint64_t id, uint64_t id2,
                                    struct imrec_error *err)
{
    const bool behind = label_count > 1 || (label_count == 1 && force_flag);
    if (label_count > (RECORDIO_PART_MAX_BYTES - IMAGE_RECORD_HEADER_BYTES) / sizeof(float))
        return imrec_fail(err, IMREC_ERR_LIMIT, "%u labels do not fit a record of %u bytes",
                          label_count, RECORDIO_PART_MAX_BYTES);
    uint8_t head[IMAGE_RECORD_HEADER_BYTES], one[sizeof(float)];
    store_le32(head, behind ? label_count : 0);
    store_le_float(head + LABEL_OFFSET, behind || label_count == 0 ? 0.0f : labels[0]);
    store_le64(head + ID_OFFSET, id);
    store_le64(head + ID2_OFFSET, id2);

    const size_t before = out->n;
    enum imrec_status st = buf_append(out, head, sizeof(head), err);
    for (uint32_t i = 0; behind && i < label_count && st == IMREC_OK; i++) {
        store_le_float(one, labels[i]);
        st = buf_append(out, one, sizeof(one), err);
    }
    if (st != IMREC_OK)
        out->n = before;
    return st;
}
