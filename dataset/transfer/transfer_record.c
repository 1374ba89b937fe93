/* dataset/transfer/transfer_record.c - records into a RecordIO shard, with its index and checksums.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "dataset/record_writer.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/crc32c.h"

#include <inttypes.h>

#define RECORD_MOST ((size_t)1 << 31)

struct records {
    struct imrec_writer *writer;
    struct buf record, framed;
    uint64_t key; /* of the record that is made */
    struct imrec_field *fields;
    uint64_t room;
};

static void end(void *out)
{
    struct records *x = out;
    if (x == NULL)
        return;
    imrec_writer_abort(x->writer);
    buf_free(&x->record);
    buf_free(&x->framed);
    IMREC_FREE(x->fields, x);
}

static enum imrec_status begin(void **out, struct imrec_error *err)
{
    struct records *x = *out = imrec_zalloc(1, sizeof(*x));
    if (x == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write records");
    x->record = x->framed = BUF_INIT(RECORD_MOST);
    return IMREC_OK;
}

/* Readers take the first field of a name. */
static enum imrec_status no_second_mask(const struct imrec_record *r, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_DATA, r->offset,
                          "%.200s: the record at byte %" PRIu64 " has a mask and a field 'mask', "
                          "which is the mask of a RecordIO record",
                          r->uri, r->offset);
}

/* All others into the image; with any of them a mask is one, too. */
static enum imrec_status take_fields(struct records *x, const struct imrec_record *r,
                                     struct written_image *image, struct imrec_error *err)
{
    uint32_t n = 0;
    if (!IMREC_GROW(x->fields, x->room, (uint64_t)r->field_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for fields");
    for (uint32_t i = 0; i < r->field_count; i++) {
        const bool named = transfer_is_called(&r->fields[i], "mask");
        if (named && transfer_is_mask(r, &r->fields[i]))
            continue;
        if (named && r->mask != NULL)
            return no_second_mask(r, err);
        x->fields[n++] = r->fields[i];
    }
    if (n != 0 && r->mask != NULL) {
        x->fields[n++] = (struct imrec_field){"mask", 4, r->mask, r->mask_size, IMREC_FIELD_BYTES};
        image->mask = (struct bytes){NULL, 0};
    }
    image->fields = x->fields;
    image->field_count = n;
    return IMREC_OK;
}

static enum imrec_status
make(void *out, const struct imrec_record *r, uint64_t *dropped, struct imrec_error *err)
{
    struct records *x = out;
    struct written_image image = {.labels = r->labels,
                                  .label_count = r->label_count,
                                  .id = r->id,
                                  .id2 = r->id2,
                                  .image = {r->image, r->image_size},
                                  .mask = {r->mask, r->mask_size}};
    (void)dropped;
    IMREC_TRY(take_fields(x, r, &image, err));
    x->key = r->id;
    return written_image_frame(&image, &x->record, &x->framed, err);
}

static enum imrec_status open_shard(void *out, const char *uri, struct imrec_error *err)
{
    struct records *x = out;
    char *idx = set_path(uri, SET_INDEX), *crc = set_path(uri, SET_CHECKSUMS);
    const enum imrec_status st = idx != NULL && crc != NULL
                                     ? record_writer_open(uri, idx, crc, true, &x->writer, err)
                                     : IMREC_NO_MEMORY(err, "no memory to write %s", uri);
    IMREC_FREE(idx, crc);
    return st;
}

static uint64_t size(const void *out)
{
    const struct records *x = out;
    return imrec_writer_size(x->writer) + x->framed.n;
}

static enum imrec_status write_made(void *out, struct imrec_error *err)
{
    struct records *x = out;
    const struct bytes framed = {x->framed.p, x->framed.n};
    x->framed.n = 0;
    return record_writer_put(x->writer, x->key, framed, crc32c(0, framed.p, framed.n), err);
}

static enum imrec_status finish(void *out, uint64_t *bytes, struct imrec_error *err)
{
    struct records *x = out;
    struct imrec_writer *w = x->writer;
    *bytes += imrec_writer_size(w);
    x->writer = NULL;
    return record_writer_finish(w, err);
}

static const char *const suffixes[] = {".rec", NULL};
static const enum set_file side_files[] = {SET_INDEX, SET_CHECKSUMS, SET_REC};

const struct transfer_kind transfer_record = {.suffixes = suffixes,
                                              .side_files = side_files,
                                              .binary_index = true,
                                              .begin = begin,
                                              .make = make,
                                              .open = open_shard,
                                              .size = size,
                                              .write = write_made,
                                              .finish = finish,
                                              .end = end};
