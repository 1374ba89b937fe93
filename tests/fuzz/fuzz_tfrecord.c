/* tests/fuzz/fuzz_tfrecord.c - arbitrary bytes as a TFRecord file and as an Example: partitions
 * tile its records, and each is a record of memory that is there, or has a reason.
 *
 * The first byte chooses: 0 to 127 partitions of the file that follows, 128 and above the Example
 * that follows, which is put into a frame with the right sums. */
#include "base/alloc.h"
#include "container/kinds.h"
#include "formats/tfrecord/example.h"
#include "formats/tfrecord/tfrecord_frame.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned g_sum;

static void touch(struct bytes b)
{
    for (size_t i = 0; i < b.n; i++) /* a sanitizer sees */
        g_sum += b.p[i];
}

static uint64_t read_part(uint64_t part, uint64_t parts)
{
    struct imrec_reader *r;
    struct imrec_record x;
    struct imrec_error err = {0};
    enum imrec_status st;
    uint64_t n = 0;
    must(imrec_reader_open("mem://a.tfrecord", part, parts, &r, &err) == IMREC_OK);
    for (; (st = imrec_reader_next(r, &x, &err)) != IMREC_END; n++) {
        must(st == IMREC_OK || (st == IMREC_ERR_DATA && err.message[0] != '\0'));
        if (st == IMREC_OK)
            touch((struct bytes){x.image, x.image_size});
    }
    imrec_reader_close(r);
    return n;
}

static void read_file(struct bytes file, uint64_t parts)
{
    uint64_t sum = 0;
    if (!tfrecord_is_head(file)) /* other kinds have targets of their own */
        return;
    must(mem_put("a.tfrecord", file.p, file.n, NULL) == IMREC_OK);
    for (uint64_t part = 0; part < parts; part++)
        sum += read_part(part, parts);
    must(sum == read_part(0, 1) && sum != 0);
    mem_clear();
}

/* As many values as were counted, in the Example. */
static void read_values(const struct example_feature *f)
{
    struct example_values v;
    struct example_value x;
    uint64_t count = 0;
    for (example_values(f, &v); example_value(&v, &x); count++)
        if (f->type == EXAMPLE_BYTES)
            touch(x.bytes);
    must(count == f->count);
}

static void read_example(struct bytes example)
{
    struct example_cursor c;
    struct example_entry e;
    struct example_feature f;
    struct imrec_error err = {0};
    struct buf file = BUF_INIT((size_t)1 << 24);
    example_begin(&c, example);
    while (example_next(&c, &e, &err) == IMREC_OK) {
        touch(e.name);
        if (example_look(e.bytes, &f, &err) == IMREC_OK)
            read_values(&f);
    }
    must(tfrecord_frame(example, &file, NULL) == IMREC_OK);
    read_file((struct bytes){file.p, file.n}, 1);
    buf_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const struct bytes rest = {data + 1, size - 1};
    if (data[0] < 128)
        read_file(rest, 1 + data[0] % 5);
    else
        read_example(rest);
    must(imrec_alloc_live() == 0);
    return 0;
}
