/* dataset/transfer/transfer_example.c - records into a TFRecord file of tf.train.Examples. */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/codec.h"
#include "container/example_record.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/tfrecord/example_write.h"
#include "formats/tfrecord/tfrecord_frame.h"
#include "storage/sink.h"

#include <math.h>

#define RECORD_MOST ((size_t)1 << 32)
#define OWN_ITEMS   7u /* at most, besides fields */
#define WHOLE_MOST  0x1p53

struct examples {
    struct sink *sink;
    struct codec *codec;
    struct buf example, framed;
    struct example_item *items;
    int64_t *numbers; /* of all items */
    uint64_t item_room, number_room;
};

static void abort_file(void *out)
{
    struct examples *x = out;
    if (x == NULL)
        return;
    sink_abort(x->sink);
    codec_free(x->codec);
    buf_free(&x->example);
    buf_free(&x->framed);
    IMREC_FREE(x->items, x->numbers, x);
}

static enum imrec_status open_file(const char *uri, void **out, struct imrec_error *err)
{
    struct examples *x = imrec_zalloc(1, sizeof(*x));
    *out = NULL;
    if (x == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write %s", uri);
    x->example = x->framed = BUF_INIT(RECORD_MOST);
    enum imrec_status st = codec_new(&x->codec, err);
    if (st == IMREC_OK)
        st = sink_open(uri, &x->sink, err);
    if (st != IMREC_OK)
        abort_file(x);
    else
        *out = x;
    return st;
}

/* ---- an Example --------------------------------------------------------------------------- */

static struct bytes text(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static struct example_item file_item(const char *name, const void *p, size_t n)
{
    return (struct example_item){
        .name = text(name), .type = EXAMPLE_BYTES, .bytes = {(const uint8_t *)p, n}};
}

/* -0 is no whole number. */
static bool are_whole(const float *labels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!(fabs((double)labels[i]) < WHOLE_MOST) || labels[i] != floorf(labels[i]) ||
            (labels[i] == 0 && signbit(labels[i])))
            return false;
    return true;
}

/* int64s where each is a whole number, as TensorFlow's classes; else floats. */
static struct example_item label_item(const struct imrec_record *r, int64_t *numbers)
{
    struct example_item item = {.name = text(EXAMPLE_LABEL), .count = r->label_count};
    item.type = are_whole(r->labels, r->label_count) ? EXAMPLE_INTS : EXAMPLE_FLOATS;
    for (uint32_t i = 0; i < r->label_count; i++)
        if (item.type == EXAMPLE_INTS)
            numbers[i] = (int64_t)r->labels[i];
        else
            store_le_float((uint8_t *)numbers + i * sizeof(float), r->labels[i]);
    item.ints = numbers;
    item.floats = (const uint8_t *)numbers;
    return item;
}

static struct example_item id_item(const char *name, uint64_t id, int64_t *number)
{
    *number = (int64_t)id; /* its 64 bits */
    return (struct example_item){
        .name = text(name), .type = EXAMPLE_INTS, .ints = number, .count = 1};
}

/* "jpeg", as its bytes say; NULL: no format that is known. */
static const char *format_of(struct examples *x, const struct imrec_record *r)
{
    static const struct codec_limits any = {.max_pixels = -1};
    struct imrec_image_info info;
    return codec_begin(x->codec, (struct bytes){r->image, r->image_size}, &any, &info, NULL) ==
                   IMREC_OK
               ? info.format
               : NULL;
}

static bool is_own(const struct imrec_record *r, const struct imrec_field *f)
{
    static const char *const names[] = {EXAMPLE_IMAGE,  EXAMPLE_LABEL, EXAMPLE_MASK,
                                        EXAMPLE_FORMAT, EXAMPLE_ID,    EXAMPLE_ID2};
    if (r->mask != NULL && transfer_is_called(f, "mask"))
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (transfer_is_called(f, names[i]))
            return true;
    return false;
}

/* Its int64s, any alignment, go to numbers. */
static struct example_item field_item(const struct imrec_field *f, int64_t *numbers)
{
    struct example_item item = {.name = {(const uint8_t *)f->name, f->name_bytes},
                                .type = f->kind == IMREC_FIELD_INT64     ? EXAMPLE_INTS
                                        : f->kind == IMREC_FIELD_FLOAT32 ? EXAMPLE_FLOATS
                                                                         : EXAMPLE_BYTES};
    const uint8_t *p = f->bytes;
    if (item.type == EXAMPLE_BYTES)
        item.bytes = (struct bytes){p, f->size};
    item.floats = p;
    item.ints = numbers;
    item.count = f->size / (item.type == EXAMPLE_INTS ? sizeof(int64_t) : sizeof(float));
    for (size_t i = 0; item.type == EXAMPLE_INTS && i < item.count; i++)
        numbers[i] = (int64_t)load_le64(p + i * sizeof(int64_t));
    return item;
}

/* Names of an Example differ: of several fields of one name the last one stays, and none has one
 * of ours, which are written again. */
static size_t field_items(const struct imrec_record *r, struct example_item *items,
                          int64_t *numbers, uint64_t *dropped)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->field_count; i++) {
        const struct imrec_field *f = &r->fields[i];
        size_t same = 0;
        if (is_own(r, f))
            continue;
        while (same < n && (items[same].name.n != f->name_bytes ||
                            memcmp(items[same].name.p, f->name, f->name_bytes) != 0))
            same++;
        *dropped += same < n;
        items[same] = field_item(f, numbers);
        numbers += f->size / sizeof(*numbers) + 1;
        n += same == n;
    }
    return n;
}

static enum imrec_status
make_room(struct examples *x, const struct imrec_record *r, struct imrec_error *err)
{
    uint64_t numbers = (uint64_t)r->label_count + 2;
    for (uint32_t i = 0; i < r->field_count; i++)
        numbers += r->fields[i].size / sizeof(*x->numbers) + 1;
    return IMREC_GROW(x->items, x->item_room, (uint64_t)r->field_count + OWN_ITEMS) &&
                   IMREC_GROW(x->numbers, x->number_room, numbers)
               ? IMREC_OK
               : IMREC_NO_MEMORY(err, "no memory for an Example");
}

static enum imrec_status
put_framed(struct examples *x, struct bytes example, struct imrec_error *err)
{
    x->framed.n = 0;
    IMREC_TRY(tfrecord_frame(example, &x->framed, err));
    return sink_append(x->sink, x->framed.p, x->framed.n, err);
}

static enum imrec_status
put(void *out, const struct imrec_record *r, uint64_t *dropped, struct imrec_error *err)
{
    struct examples *x = out;
    IMREC_TRY(make_room(x, r, err));
    const char *format = format_of(x, r);
    struct example_item *items = x->items;
    size_t n = 0;
    if (r->label_count != 0)
        items[n++] = label_item(r, x->numbers + 2);
    items[n++] = file_item(EXAMPLE_IMAGE, r->image, r->image_size);
    if (format != NULL)
        items[n++] = file_item(EXAMPLE_FORMAT, format, strlen(format));
    items[n++] = id_item(EXAMPLE_ID, r->id, &x->numbers[0]);
    if (r->id2 != 0)
        items[n++] = id_item(EXAMPLE_ID2, r->id2, &x->numbers[1]);
    if (r->mask != NULL)
        items[n++] = file_item(EXAMPLE_MASK, r->mask, r->mask_size);
    n += field_items(r, items + n, x->numbers + 2 + r->label_count, dropped);
    x->example.n = 0;
    IMREC_TRY(example_write(items, n, &x->example, err));
    return put_framed(x, (struct bytes){x->example.p, x->example.n}, err);
}

static enum imrec_status copy(void *out, const struct imrec_record *r, struct imrec_error *err)
{
    return put_framed(out, (struct bytes){r->data, r->size}, err);
}

static uint64_t size(const void *out)
{
    return sink_size(((const struct examples *)out)->sink);
}

static enum imrec_status commit(void *out, struct imrec_error *err)
{
    struct examples *x = out;
    struct sink *sink = x->sink;
    x->sink = NULL;
    const enum imrec_status st = sink_commit(sink, err);
    abort_file(x);
    return st;
}

static const char *const suffixes[] = {".tfrecord", ".tfrecords", NULL};

const struct transfer_kind transfer_example = {suffixes, open_file, put,       copy,
                                               size,     commit,    abort_file};
