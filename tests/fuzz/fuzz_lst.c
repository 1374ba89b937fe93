/* tests/fuzz/fuzz_lst.c - arbitrary text as a list, the first byte as its label_width: every line
 * is an entry or an error, and an entry writes and reads the same. */
#include "formats/set/image_list.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct image_list_entry *e)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    struct image_list l;
    struct image_list_entry again;
    must(image_list_write(&out, e, NULL) == IMREC_OK);
    image_list_begin(&l, "f.lst", 0, (struct bytes){out.p, out.n}, 1, 0);
    must(image_list_next(&l, &again, NULL) == IMREC_OK);
    must(again.id == e->id && again.label_count == e->label_count);
    for (uint32_t i = 0; i < e->label_count; i++) /* a nan is written without its sign */
        must(e->labels[i] != e->labels[i] ||
             memcmp(&again.labels[i], &e->labels[i], sizeof(float)) == 0);
    must(again.path.n == e->path.n && memcmp(again.path.p, e->path.p, e->path.n) == 0);
    must(image_list_next(&l, &again, NULL) == IMREC_END);
    image_list_end(&l);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_list l;
    struct image_list_entry e;
    struct imrec_error err;
    enum imrec_status st;
    uint64_t line = 0;
    if (size == 0)
        return 0;
    image_list_begin(&l, "f.lst", data[0] % 4, (struct bytes){data + 1, size - 1}, 0, 0);
    while ((st = image_list_next(&l, &e, &err)) != IMREC_END) {
        must(l.lines.number > line && l.lines.number <= size);
        line = l.lines.number;
        must(st == IMREC_OK || (st == IMREC_ERR_CORRUPT && err.offset < size));
        if (st == IMREC_OK)
            check_again(&e);
    }
    image_list_end(&l);
    return 0;
}
