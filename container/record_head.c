/* container/record_head.c - the head of a record alone. */
#include "container/record_head.h"

#include "base/bytes.h"
#include "base/math.h"
#include "storage/source.h"

bool record_head_read(const struct shard *h, uint64_t begin, uint64_t end, struct record_head *out)
{
    const uint64_t bytes = end - begin;
    const size_t n = bytes < RECORD_HEAD_BYTES ? (size_t)bytes : RECORD_HEAD_BYTES;
    if (begin % RECORDIO_ALIGN != 0 || n < RECORDIO_PART_HEAD_BYTES ||
        source_read_again(h->source, begin, out->bytes, n, NULL) != IMREC_OK)
        return false;
    const uint32_t size = load_le32(out->bytes + 4); /* with a part flag of 0 in its upper bits */
    const uint64_t padded = align_up((uint64_t)size, RECORDIO_ALIGN);
    if (load_le32(out->bytes) != RECORDIO_MAGIC || size > RECORDIO_PART_MAX_BYTES ||
        padded != bytes - RECORDIO_PART_HEAD_BYTES)
        return false;
    out->is_image = size >= IMAGE_RECORD_HEADER_BYTES;
    out->flag = out->is_image ? load_le32(out->bytes + RECORDIO_PART_HEAD_BYTES) : 0;
    if (out->is_image && out->flag > (size - IMAGE_RECORD_HEADER_BYTES) / sizeof(float))
        out->is_image = false;
    return true;
}
