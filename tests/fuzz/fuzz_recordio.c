/* tests/fuzz/fuzz_recordio.c - arbitrary bytes: measuring ends, stays inside, and what it
 * accepts survives joining, copying and framing again. */
#include "formats/recordio/recordio.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_record(uint8_t *p, const struct recordio_span *span)
{
    struct buf scratch = BUF_INIT(SIZE_MAX), again = BUF_INIT(SIZE_MAX);
    struct bytes copied;
    must(recordio_swallowed(p, span) <= span->bytes);
    must(recordio_copy(p, span, &scratch, &copied, NULL) == IMREC_OK && copied.n == span->size);
    must(recordio_frame(copied, &again, NULL) == IMREC_OK);
    if (scratch.p == NULL) /* one part: a view, which joining leaves as it is */
        must(copied.p == p + RECORDIO_PART_HEAD_BYTES);
    const struct bytes joined = recordio_join(p, span);
    must(joined.n == copied.n && memcmp(joined.p, copied.p, joined.n) == 0);
    struct recordio_span measured;
    must(recordio_measure(again.p, again.n, 0, &measured, NULL) == IMREC_OK);
    must(measured.size == span->size && measured.bytes == again.n);
    buf_free(&scratch);
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *p = malloc(size + 1);
    must(p != NULL);
    memcpy(p, data, size);
    for (size_t pos = 0; pos < size;) {
        struct recordio_span span = {0};
        struct imrec_error err;
        const enum imrec_status st = recordio_measure(p + pos, size - pos, pos, &span, &err);
        must(st == IMREC_OK || st == IMREC_END || st == IMREC_ERR_CORRUPT);
        if (st == IMREC_OK) {
            must(span.bytes <= size - pos && span.bytes >= 8 && span.size <= span.bytes);
            check_record(p + pos, &span);
            pos += span.bytes;
            continue;
        }
        must(st != IMREC_END || span.bytes > size - pos);
        must(st != IMREC_ERR_CORRUPT || (err.offset >= pos && err.offset < size));
        const size_t from = pos + 4 < size ? pos + 4 : size;
        const size_t skip = recordio_sync(p + from, size - from);
        must(skip <= size - from);
        pos = from + skip;
    }
    free(p);
    return 0;
}
