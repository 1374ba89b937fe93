/* dataset/transfer/transfer_record.c - records into a RecordIO shard, with its index and checksums.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "dataset/record_writer.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/set/set_names.h"

#include <inttypes.h>

struct records {
    struct imrec_writer *writer;
    struct imrec_field *fields;
    uint64_t room;
};

static void abort_shard(void *out)
{
    struct records *x = out;
    if (x == NULL)
        return;
    imrec_writer_abort(x->writer);
    IMREC_FREE(x->fields, x);
}

static enum imrec_status open_shard(const char *uri, void **out, struct imrec_error *err)
{
    char *idx = set_path(uri, SET_INDEX), *crc = set_path(uri, SET_CHECKSUMS);
    struct records *x = imrec_zalloc(1, sizeof(*x));
    enum imrec_status st = IMREC_NO_MEMORY(err, "no memory to write %s", uri);
    if (x != NULL && idx != NULL && crc != NULL)
        st = record_writer_open(uri, idx, crc, true, &x->writer, err);
    IMREC_FREE(idx, crc);
    if (st != IMREC_OK)
        abort_shard(x);
    *out = st == IMREC_OK ? x : NULL;
    return st;
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
put(void *out, const struct imrec_record *r, uint64_t *dropped, struct imrec_error *err)
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
    return record_writer_image(x->writer, &image, err);
}

static uint64_t size(const void *out)
{
    return imrec_writer_size(((const struct records *)out)->writer);
}

static enum imrec_status commit(void *out, struct imrec_error *err)
{
    struct records *x = out;
    struct imrec_writer *w = x->writer;
    x->writer = NULL;
    const enum imrec_status st = imrec_writer_commit(w, err);
    abort_shard(x);
    return st;
}

static const char *const suffixes[] = {".rec", NULL};

const struct transfer_kind transfer_record = {suffixes, open_shard, put,        NULL,
                                              size,     commit,     abort_shard};
