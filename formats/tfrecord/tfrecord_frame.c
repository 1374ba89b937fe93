/* formats/tfrecord/tfrecord_frame.c - the frame of a record in a TFRecord file. */
#include "formats/tfrecord/tfrecord_frame.h"

#include "base/error.h"
#include "formats/crc32c.h"

#define FRAME_BYTES  (TFRECORD_HEAD_BYTES + TFRECORD_TAIL_BYTES)
#define LENGTH_BYTES 8u

bool tfrecord_head(const uint8_t p[TFRECORD_HEAD_BYTES], uint64_t *length)
{
    *length = load_le64(p);
    return load_le32(p + LENGTH_BYTES) == crc32c_masked(p, LENGTH_BYTES);
}

bool tfrecord_is_head(struct bytes first)
{
    uint64_t length;
    return first.n >= TFRECORD_HEAD_BYTES && tfrecord_head(first.p, &length);
}

bool tfrecord_is_intact(struct bytes content, const uint8_t tail[TFRECORD_TAIL_BYTES])
{
    return load_le32(tail) == crc32c_masked(content.p, content.n);
}

size_t tfrecord_find(struct bytes b, uint64_t left)
{
    for (size_t i = 0; i < b.n && b.n - i >= TFRECORD_HEAD_BYTES; i++) {
        uint64_t length = load_le64(b.p + i);
        if (left - i < FRAME_BYTES || length > left - i - FRAME_BYTES) /* of most: no sum then */
            continue;
        if (tfrecord_head(b.p + i, &length))
            return i;
    }
    return b.n;
}

enum imrec_status tfrecord_frame(struct bytes content, struct buf *out, struct imrec_error *err)
{
    uint8_t head[TFRECORD_HEAD_BYTES], tail[TFRECORD_TAIL_BYTES];
    store_le64(head, content.n);
    store_le32(head + LENGTH_BYTES, crc32c_masked(head, LENGTH_BYTES));
    store_le32(tail, crc32c_masked(content.p, content.n));
    IMREC_TRY(buf_append(out, head, sizeof(head), err));
    IMREC_TRY(buf_append(out, content.p, content.n, err));
    return buf_append(out, tail, sizeof(tail), err);
}
