/* dataset/transfer/record_example.c - the Example of a record that was none before. */
#include "dataset/transfer/record_example.h"

#include "base/error.h"
#include "codec/codec.h"
#include "container/example_record.h"
#include "dataset/transfer/example_again.h"
#include "dataset/transfer/feature_list.h"
#include "dataset/transfer/transfer_out.h"

#define OWN_ITEMS 7u /* at most, besides fields */

/* ---- what a record has -------------------------------------------------------------------- */

static struct example_item id_item(struct example_parts *x, const char *name, uint64_t id)
{
    int64_t *number = &x->numbers[x->taken++];
    *number = (int64_t)id; /* its 64 bits */
    return (struct example_item){
        .name = example_text(name), .type = EXAMPLE_INTS, .ints = number, .count = 1};
}

/* "jpeg", as its bytes say; NULL: no format that is known. */
static const char *format_of(struct example_parts *x, const struct imrec_record *r)
{
    static const struct codec_limits any = {.max_pixels = -1};
    struct imrec_image_info info;
    return codec_begin(x->codec, (struct bytes){r->image, r->image_size}, &any, &info, NULL) ==
                   IMREC_OK
               ? info.format
               : NULL;
}

/* ---- fields ------------------------------------------------------------------------------- */

static bool have_same_values(const struct example_item *a, const struct imrec_field *f)
{
    if (a->type == EXAMPLE_BYTES)
        return f->kind == IMREC_FIELD_BYTES && a->bytes.n == f->size &&
               (f->size == 0 || memcmp(a->bytes.p, f->bytes, f->size) == 0);
    return a->type == EXAMPLE_INTS && a->count == 1 && f->kind == IMREC_FIELD_INT64 &&
           f->size == sizeof(int64_t) && (int64_t)load_le64(f->bytes) == a->ints[0];
}

/* Names of an Example differ: of several fields of one name the last one stays, and one that has
 * the name of a part of the record gives way to it. */
static void add_fields(struct example_parts *x, const struct imrec_record *r, uint64_t *dropped)
{
    const size_t own = x->count;
    size_t same;
    for (uint32_t i = 0; i < r->field_count; i++) {
        const struct imrec_field *f = &r->fields[i];
        if (transfer_is_mask(r, f) || example_add_field(x, f, &same))
            continue;
        *dropped += same >= own || !have_same_values(&x->items[same], f);
        if (same >= own)
            x->items[same] = example_field_item(x, f);
    }
}

/* ---- an Example --------------------------------------------------------------------------- */

static enum imrec_status make(struct example_parts *x, const struct imrec_record *r,
                              uint64_t *dropped, struct imrec_error *err)
{
    const char *format = format_of(x, r);
    uint64_t numbers = (uint64_t)r->label_count + 2;
    for (uint32_t i = 0; i < r->field_count; i++)
        numbers += r->fields[i].kind == IMREC_FIELD_INT64 ? r->fields[i].size / sizeof(int64_t) : 0;
    IMREC_TRY(example_parts_room(x, (uint64_t)r->field_count + OWN_ITEMS, numbers, err));
    struct example_item *items = x->items;
    if (r->label_count != 0)
        items[x->count++] = example_label_item(x, r, example_text(EXAMPLE_LABEL), true);
    items[x->count++] = example_file_item(EXAMPLE_IMAGE, r->image, r->image_size);
    if (format != NULL)
        items[x->count++] = example_file_item(EXAMPLE_FORMAT, format, strlen(format));
    items[x->count++] = id_item(x, EXAMPLE_ID, r->id);
    if (r->id2 != 0)
        items[x->count++] = id_item(x, EXAMPLE_ID2, r->id2);
    if (r->mask != NULL)
        items[x->count++] = example_file_item(EXAMPLE_MASK, r->mask, r->mask_size);
    add_fields(x, r, dropped);
    return IMREC_OK;
}

enum imrec_status example_of_record(struct example_parts *x, const struct imrec_record *r,
                                    struct bytes *out, uint64_t *dropped, struct imrec_error *err)
{
    const struct bytes features = transfer_text_in(r, SAMPLE_FEATURES);
    x->count = x->taken = x->example.n = 0;
    IMREC_TRY(features.p != NULL ? example_again(x, r, features, dropped, err)
                                 : make(x, r, dropped, err));
    IMREC_TRY(example_write(x->items, x->count, &x->example, err));
    *out = (struct bytes){x->example.p, x->example.n};
    return IMREC_OK;
}
