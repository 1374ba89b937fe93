/* formats/tfrecord/example_write.c - a tf.train.Example of given features. example.c has the
 * messages: each is a tag, its length, and what is in it, so that lengths are known first. */
#include "formats/tfrecord/example_write.h"

#include "base/error.h"

enum { TAG_1 = 1 << 3 | 2, TAG_2 = 2 << 3 | 2 }; /* of fields that have a length */

static size_t varint_bytes(uint64_t v)
{
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

static enum imrec_status put_varint(struct buf *out, uint64_t v, struct imrec_error *err)
{
    uint8_t p[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return buf_append(out, p, n, err);
}

/* Bytes of a field that has a length. */
static size_t field_bytes(size_t n)
{
    return 1 + varint_bytes(n) + n;
}

static enum imrec_status put_head(struct buf *out, uint8_t tag, size_t n, struct imrec_error *err)
{
    IMREC_TRY(buf_append(out, &tag, 1, err));
    return put_varint(out, n, err);
}

/* Bytes of packed numbers, of their list, of the feature, of its entry. */
struct sizes {
    size_t packed, list, feature, entry;
};

static size_t count_of(const struct example_item *item)
{
    return item->type == EXAMPLE_BYTES && item->list == NULL ? 1 : item->count;
}

static struct bytes value_of(const struct example_item *item, size_t i)
{
    return item->list == NULL ? item->bytes : item->list[i];
}

static struct sizes sizes_of(const struct example_item *item)
{
    struct sizes s = {0};
    if (item->type == EXAMPLE_FLOATS)
        s.packed = item->count * sizeof(float);
    for (size_t i = 0; item->type == EXAMPLE_INTS && i < item->count; i++)
        s.packed += varint_bytes((uint64_t)item->ints[i]);
    for (size_t i = 0; item->type == EXAMPLE_BYTES && i < count_of(item); i++)
        s.list += field_bytes(value_of(item, i).n);
    if (s.packed != 0) /* no numbers have no field: protobuf writes an empty list */
        s.list = field_bytes(s.packed);
    s.feature = item->type != EXAMPLE_NONE ? field_bytes(s.list) : 0;
    s.entry = field_bytes(item->name.n) + field_bytes(s.feature);
    return s;
}

static enum imrec_status put_bytes(struct buf *out, struct bytes value, struct imrec_error *err)
{
    IMREC_TRY(put_head(out, TAG_1, value.n, err));
    return buf_append(out, value.p, value.n, err);
}

static enum imrec_status
put_values(const struct example_item *item, size_t packed, struct buf *out, struct imrec_error *err)
{
    for (size_t i = 0; item->type == EXAMPLE_BYTES && i < count_of(item); i++)
        IMREC_TRY(put_bytes(out, value_of(item, i), err));
    if (packed != 0)
        IMREC_TRY(put_head(out, TAG_1, packed, err));
    if (item->type == EXAMPLE_FLOATS)
        return buf_append(out, item->floats, packed, err);
    for (size_t i = 0; item->type == EXAMPLE_INTS && i < item->count; i++)
        IMREC_TRY(put_varint(out, (uint64_t)item->ints[i], err));
    return IMREC_OK;
}

static enum imrec_status
put_item(const struct example_item *item, struct buf *out, struct imrec_error *err)
{
    const struct sizes s = sizes_of(item);
    IMREC_TRY(put_head(out, TAG_1, s.entry, err));
    IMREC_TRY(put_bytes(out, item->name, err));
    IMREC_TRY(put_head(out, TAG_2, s.feature, err));
    if (item->type == EXAMPLE_NONE)
        return IMREC_OK;
    IMREC_TRY(put_head(out, (uint8_t)(item->type << 3 | 2), s.list, err));
    return put_values(item, s.packed, out, err);
}

enum imrec_status
example_write(const struct example_item *items, size_t n, struct buf *out, struct imrec_error *err)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += field_bytes(sizes_of(&items[i]).entry);
    IMREC_TRY(put_head(out, TAG_1, all, err));
    for (size_t i = 0; i < n; i++)
        IMREC_TRY(put_item(&items[i], out, err));
    return IMREC_OK;
}
