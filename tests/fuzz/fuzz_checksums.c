/* tests/fuzz/fuzz_checksums.c - arbitrary bytes, their own checksum put right so that the checks
 * behind it are reached: refused, or entries that write the same file. */
#include "formats/crc32c.h"
#include "formats/set/checksums.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const uint8_t *file, size_t size, struct checksums *c)
{
    struct checksums_writer w;
    struct checksum sum;
    struct buf out = BUF_INIT(SIZE_MAX);
    uint64_t bytes = 0;
    bool writable = true;
    must(checksums_begin(&w, &out, NULL) == IMREC_OK);
    for (; checksums_next(c, &sum); bytes += sum.framed_bytes) {
        must(sum.offset == bytes);
        writable = checksums_add(&w, sum.framed_bytes, sum.crc, &out, NULL) == IMREC_OK && writable;
    }
    must(bytes == c->shard_bytes);
    must(checksums_finish(&w, &out, NULL) == IMREC_OK);
    must(!writable || w.shard_crc != c->shard_crc ||
         (out.n == size && memcmp(out.p, file, size) == 0));
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct checksums c;
    uint8_t *file = malloc(size + 1);
    must(file != NULL);
    memcpy(file, data, size);
    if (size >= 4)
        store_le32(file + size - 4, crc32c(0, file, size - 4));
    if (checksums_open("f.crc", (struct bytes){file, size}, &c, NULL) == IMREC_OK)
        check_again(file, size, &c);
    free(file);
    return 0;
}
