/* tests/fuzz/fuzz_idxb.c - arbitrary bytes: every block is entries that ascend or an error with a
 * place, and what was read writes the same bytes. */
#include "formats/recordio/index_blocks.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct index_entry entry[INDEX_BLOCKS_ENTRIES];
    static uint8_t again[INDEX_BLOCKS_BLOCK_BYTES];
    struct index_blocks h;
    struct imrec_error err;
    const size_t head = size < INDEX_BLOCKS_HEAD_BYTES ? size : INDEX_BLOCKS_HEAD_BYTES;
    enum imrec_status st =
        index_blocks_read_head("f.idxb", (struct bytes){data, head}, size, &h, &err);
    must(st == IMREC_OK || err.offset <= size);
    for (uint64_t k = 0; st == IMREC_OK && k < index_blocks_total(&h); k++) {
        const uint8_t *p = data + index_blocks_begin(k);
        const size_t n = index_blocks_entries(&h, k);
        st = index_blocks_read("f.idxb", &h, k, p, entry, &err);
        must(st == IMREC_OK || (st == IMREC_ERR_CORRUPT && err.offset < size));
        if (st == IMREC_OK)
            must(memcmp(again, p, index_blocks_write(k, entry, n, again)) == 0);
    }
    return 0;
}
