/* tests/fuzz/fuzz_idx.c - arbitrary text: every line is an entry or an error with a place, and
 * what was read writes and reads the same. */
#include "formats/recordio/record_index.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct index_cursor c, again;
    struct imrec_error err;
    struct buf out = BUF_INIT(SIZE_MAX);
    uint64_t key, offset, key2, offset2, entries = 0;
    enum imrec_status st;
    record_index_begin(&c, "f.idx", (struct bytes){data, size});
    for (; (st = record_index_next(&c, &key, &offset, &err)) == IMREC_OK; entries++)
        must(record_index_write(&out, key, offset, NULL) == IMREC_OK);
    must(st == IMREC_END || (st == IMREC_ERR_CORRUPT && err.offset < size));
    must(c.line <= size);
    record_index_begin(&c, "f.idx", (struct bytes){data, size});
    record_index_begin(&again, "f.idx", (struct bytes){out.p, out.n});
    for (; entries > 0; entries--) {
        must(record_index_next(&c, &key, &offset, NULL) == IMREC_OK);
        must(record_index_next(&again, &key2, &offset2, NULL) == IMREC_OK);
        must(key == key2 && offset == offset2);
    }
    must(record_index_next(&again, &key2, &offset2, NULL) == IMREC_END);
    buf_free(&out);
    return 0;
}
