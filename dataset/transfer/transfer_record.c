/* dataset/transfer/transfer_record.c - records into a RecordIO shard, with its index and checksums.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "dataset/record_writer.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/set/set_names.h"

static enum imrec_status open_shard(const char *uri, void **out, struct imrec_error *err)
{
    char *idx = set_path(uri, SET_INDEX), *crc = set_path(uri, SET_CHECKSUMS);
    struct imrec_writer *w = NULL;
    const enum imrec_status st = idx != NULL && crc != NULL
                                     ? record_writer_open(uri, idx, crc, true, &w, err)
                                     : IMREC_NO_MEMORY(err, "no memory for a path");
    IMREC_FREE(idx, crc);
    *out = w;
    return st;
}

/* The number in a field of this name; else `usual`. */
static uint64_t number_in(const struct record *from, const char *name, uint64_t usual)
{
    for (uint32_t i = 0; i < from->field_count; i++) {
        const struct record_field *f = &from->fields[i];
        if (f->type == FIELD_INT64 && f->value.n == sizeof(uint64_t) && f->name.n == strlen(name) &&
            memcmp(f->name.p, name, f->name.n) == 0)
            return load_le64(f->value.p);
    }
    return usual;
}

static bool is_known(const struct record_field *f)
{
    static const char *const names[] = {EXAMPLE_ID, EXAMPLE_ID2, EXAMPLE_FORMAT};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (f->name.n == strlen(names[i]) && memcmp(f->name.p, names[i], f->name.n) == 0)
            return true;
    return false;
}

static enum imrec_status put(void *out, const struct imrec_record *r, const struct record *from,
                             uint64_t *dropped, struct imrec_error *err)
{
    const uint64_t id = number_in(from, EXAMPLE_ID, r->id);
    const struct written_image image = {.labels = r->labels,
                                        .label_count = r->label_count,
                                        .id = id,
                                        .id2 = number_in(from, EXAMPLE_ID2, r->id2),
                                        .image = {r->image, r->image_size},
                                        .mask = {r->mask, r->mask_size}};
    for (uint32_t i = 0; i < from->field_count; i++)
        *dropped += !is_known(&from->fields[i]);
    return record_writer_image(out, &image, err);
}

static uint64_t size(const void *out)
{
    return imrec_writer_size(out);
}

static enum imrec_status commit(void *out, struct imrec_error *err)
{
    return imrec_writer_commit(out, err);
}

static void abort_shard(void *out)
{
    imrec_writer_abort(out);
}

static const char *const suffixes[] = {".rec", NULL};

const struct transfer_kind transfer_record = {suffixes, open_shard, put,        NULL,
                                              size,     commit,     abort_shard};
