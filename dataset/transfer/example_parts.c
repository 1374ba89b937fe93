/* dataset/transfer/example_parts.c */
#include "dataset/transfer/example_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "codec/codec.h"

#include <math.h>
#include <string.h>

#define EXAMPLE_MOST ((size_t)1 << 32)
#define WHOLE_MOST   0x1p53

enum imrec_status example_parts_init(struct example_parts *x, struct imrec_error *err)
{
    *x = (struct example_parts){0};
    x->example = x->names = x->extension = BUF_INIT(EXAMPLE_MOST);
    return codec_new(&x->codec, err);
}

void example_parts_free(struct example_parts *x)
{
    codec_free(x->codec);
    buf_free(&x->example);
    buf_free(&x->names);
    buf_free(&x->extension);
    IMREC_FREE(x->items, x->numbers, x->values, x->used);
    *x = (struct example_parts){0};
}

enum imrec_status example_parts_room(struct example_parts *x, uint64_t items, uint64_t numbers,
                                     struct imrec_error *err)
{
    return IMREC_GROW(x->items, x->item_room, items) &&
                   IMREC_GROW(x->numbers, x->number_room, x->taken + numbers)
               ? IMREC_OK
               : IMREC_NO_MEMORY(err, "no memory for an Example");
}

/* ---- features ----------------------------------------------------------------------------- */

struct bytes example_text(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

struct example_item example_file_item(const char *name, const void *p, size_t n)
{
    return (struct example_item){
        .name = example_text(name), .type = EXAMPLE_BYTES, .bytes = {(const uint8_t *)p, n}};
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

struct example_item example_label_item(struct example_parts *x, const struct imrec_record *r,
                                       struct bytes name, bool whole)
{
    int64_t *numbers = x->numbers + x->taken;
    struct example_item item = {.name = name, .count = r->label_count};
    item.type = whole && are_whole(r->labels, r->label_count) ? EXAMPLE_INTS : EXAMPLE_FLOATS;
    for (uint32_t i = 0; i < r->label_count; i++)
        if (item.type == EXAMPLE_INTS)
            numbers[i] = (int64_t)r->labels[i];
        else
            store_le_float((uint8_t *)numbers + i * sizeof(float), r->labels[i]);
    item.ints = numbers;
    item.floats = (const uint8_t *)numbers;
    x->taken += r->label_count;
    return item;
}

/* ---- fields ------------------------------------------------------------------------------- */

/* Its int64s, any alignment, are copied. */
struct example_item example_field_item(struct example_parts *x, const struct imrec_field *f)
{
    struct example_item item = {.name = {(const uint8_t *)f->name, f->name_bytes},
                                .type = f->kind == IMREC_FIELD_INT64     ? EXAMPLE_INTS
                                        : f->kind == IMREC_FIELD_FLOAT32 ? EXAMPLE_FLOATS
                                                                         : EXAMPLE_BYTES};
    int64_t *numbers = x->numbers + x->taken;
    const uint8_t *p = f->bytes;
    if (item.type == EXAMPLE_BYTES)
        item.bytes = (struct bytes){p, f->size};
    item.floats = p;
    item.ints = numbers;
    item.count = f->size / (item.type == EXAMPLE_INTS ? sizeof(int64_t) : sizeof(float));
    for (size_t i = 0; item.type == EXAMPLE_INTS && i < item.count; i++)
        numbers[i] = (int64_t)load_le64(p + i * sizeof(int64_t));
    x->taken += item.type == EXAMPLE_INTS ? item.count : 0;
    return item;
}

bool example_add_field(struct example_parts *x, const struct imrec_field *f, size_t *same)
{
    size_t i = 0;
    while (i < x->count && (x->items[i].name.n != f->name_bytes ||
                            memcmp(x->items[i].name.p, f->name, f->name_bytes) != 0))
        i++;
    *same = i;
    if (i < x->count)
        return false;
    x->items[x->count++] = example_field_item(x, f);
    return true;
}
