/* tests/fuzz/fuzz_webdataset.c - arbitrary bytes as a tar archive: partitions tile its samples, and
 * each is a record of memory that is there, or has a reason. The packer scans it, too.
 *
 * The first byte chooses partitions, the others are the file. */
#include "base/alloc.h"
#include "container/kinds.h"
#include "formats/tar/tar_header.h"
#include "im2rec/list/archive_scan.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned g_sum;

static uint64_t read_part(uint64_t part, uint64_t parts)
{
    struct imrec_reader *r;
    struct imrec_record x;
    struct imrec_error err = {0};
    enum imrec_status st;
    uint64_t n = 0;
    must(imrec_reader_open("mem://a.tar", part, parts, &r, &err) == IMREC_OK);
    for (; (st = imrec_reader_next(r, &x, &err)) != IMREC_END; n++) {
        must(st == IMREC_OK || (st == IMREC_ERR_DATA && err.message[0] != '\0'));
        for (size_t i = 0; st == IMREC_OK && i < x.image_size; i++) /* a sanitizer sees */
            g_sum += ((const uint8_t *)x.image)[i];
    }
    imrec_reader_close(r);
    return n;
}

/* What the packer finds in it: pieces of the file, each of one sample. */
static void scan(size_t size, bool labels)
{
    const struct archive_options o = {.spec = "mem://a.tar",
                                      .image_ext = "",
                                      .label_ext = labels ? "cls" : "none",
                                      .builtin = (const char *const[]){".jpg", ".png", NULL}};
    struct scan s;
    struct imrec_error err = {0};
    char *root;
    const enum imrec_status st = archives_scan(&o, &s, &root, &err);
    must(st == IMREC_OK || (st == IMREC_ERR_ARGUMENT && err.message[0] != '\0'));
    for (size_t i = 0; i < s.file_count; i++) {
        must(s.places[i].begin <= size && s.places[i].bytes <= size - s.places[i].begin);
        must(i == 0 || s.files[i - 1]->id < s.files[i]->id);
    }
    scan_free(&s);
    imrec_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + TAR_BLOCK || !tar_is_magic((struct bytes){data + 1, size - 1}))
        return 0;
    const uint64_t parts = 1 + data[0] % 5;
    uint64_t sum = 0;
    must(mem_put("a.tar", data + 1, size - 1, NULL) == IMREC_OK);
    for (uint64_t part = 0; part < parts; part++)
        sum += read_part(part, parts);
    must(sum == read_part(0, 1));
    scan(size - 1, data[0] < 128);
    mem_clear();
    must(imrec_alloc_live() == 0);
    return 0;
}
