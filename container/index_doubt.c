/* container/index_doubt.c - whether an index lists all records of its shard. */
#include "container/index_doubt.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/recordio/recordio.h"

#include <inttypes.h>

#define PARTS_MOST 4096u /* of a record; one of more is not measured here */

/* Whether a whole record begins at `at`; *end: of it. */
static bool find_end(const struct shard *h, uint64_t at, uint64_t *end)
{
    enum { WHOLE, FIRST, MIDDLE, LAST };
    for (uint32_t part = 0; part < PARTS_MOST; part++) {
        uint8_t head[RECORDIO_PART_HEAD_BYTES];
        if (at % RECORDIO_ALIGN != 0 || at > h->size || h->size - at < sizeof(head) ||
            source_read_again(h->source, at, head, sizeof(head), NULL) != IMREC_OK ||
            load_le32(head) != RECORDIO_MAGIC)
            return false;
        const uint32_t flag = load_le32(head + 4) >> 29;
        const uint64_t n = load_le32(head + 4) & RECORDIO_PART_MAX_BYTES;
        at += sizeof(head) + align_up(n, RECORDIO_ALIGN);
        if (at > h->size || flag > LAST || (flag <= FIRST) != (part == 0))
            return false;
        *end = at;
        if (flag == WHOLE || flag == LAST)
            return true;
    }
    return false;
}

enum imrec_status index_doubt(const struct shard *h, const char *name,
                              const struct indexed_record *r, uint64_t n, struct manifest_beside *b,
                              bool may_read, struct imrec_error *doubt, struct imrec_error *err)
{
    const struct manifest_shard *told;
    uint64_t end, other;
    IMREC_TRY(manifest_beside_shard(b, h->uri, h->size, &told, err));
    doubt->status = IMREC_OK;
    if (told != NULL && told->records != n)
        imrec_fail(doubt, IMREC_ERR_CORRUPT,
                   "%.150s lists %" PRIu64 " records, but by its manifest %.150s has %" PRIu64,
                   name, n, h->uri, told->records);
    else if (n == 0 && h->size != 0)
        imrec_fail(doubt, IMREC_ERR_CORRUPT,
                   "%.150s lists no record, but %.150s has %" PRIu64 " bytes", name, h->uri,
                   h->size);
    else if (may_read && n != 0 && r[0].offset != 0 && find_end(h, 0, &end))
        imrec_fail(doubt, IMREC_ERR_CORRUPT,
                   "%.150s does not list the record at byte 0 of %.150s; its first is at byte "
                   "%" PRIu64,
                   name, h->uri, r[0].offset);
    else if (may_read && n != 0 && find_end(h, r[n - 1].offset, &end) && find_end(h, end, &other))
        imrec_fail(doubt, IMREC_ERR_CORRUPT,
                   "%.150s does not list the record at byte %" PRIu64 " of %.150s, after its "
                   "last one",
                   name, end, h->uri);
    return IMREC_OK;
}
