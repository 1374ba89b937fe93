/* tests/fuzz/fuzz_features.c - arbitrary bytes as the list of an Example's features, and as an
 * Example: by way of RecordIO it is the same again, or counted as one that is not.
 *
 * The first byte chooses: 0 to 127 the list of a record that has some fields, 128 and above the
 * Example that follows. */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/tfrecord/tfrecord_frame.h"
#include "imrec/convert.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "storage/source.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST ((size_t)1 << 24)

static enum imrec_status
convert(const char *input, const char *output, struct imrec_records_result *r)
{
    struct imrec_records_options o;
    struct imrec_error err = {0};
    imrec_records_options_init(&o);
    o.input = input;
    o.output = output;
    const enum imrec_status st = imrec_convert_records(&o, r, &err);
    must(st == IMREC_OK || err.message[0] != '\0');
    return st;
}

static bool are_same(const char *a, const char *b)
{
    uint8_t *p, *q;
    size_t n, m;
    must(source_load(a, MOST, &p, &n, NULL) == IMREC_OK);
    must(source_load(b, MOST, &q, &m, NULL) == IMREC_OK);
    const bool same = n == m && memcmp(p, q, n) == 0;
    imrec_free(p);
    imrec_free(q);
    return same;
}

/* What is made of any list that makes an Example is one that comes back. */
static void read_list(struct bytes list)
{
    static const float label[] = {7, 0.5f};
    static const int64_t numbers[] = {-1, 300};
    const struct imrec_field fields[] = {{"text", 4, "1 -2 x", 6, IMREC_FIELD_BYTES},
                                         {"text", 4, "1 -2", 4, IMREC_FIELD_BYTES},
                                         {"a/b", 3, "1e3 nan", 7, IMREC_FIELD_BYTES},
                                         {"i", 1, numbers, sizeof(numbers), IMREC_FIELD_INT64},
                                         {"f", 1, label, sizeof(label), IMREC_FIELD_FLOAT32},
                                         {"__features__", 12, list.p, list.n, IMREC_FIELD_BYTES}};
    struct imrec_writer *w;
    struct imrec_records_result r;
    must(imrec_writer_open("mem://a.rec", "mem://a.idx", true, &w, NULL) == IMREC_OK);
    must(imrec_writer_append_fields(w, 0, label, list.n % 3, 0, "img", 3, fields, 6, NULL) ==
         IMREC_OK);
    must(imrec_writer_commit(w, NULL) == IMREC_OK);
    (void)convert("mem://a.rec", "mem://b.tfrecord", &r);
}

static void read_example(struct bytes example)
{
    struct buf file = BUF_INIT(MOST);
    struct imrec_records_result r;
    must(tfrecord_frame(example, &file, NULL) == IMREC_OK);
    must(mem_put("a.tfrecord", file.p, file.n, NULL) == IMREC_OK);
    if (convert("mem://a.tfrecord", "mem://b.rec", &r) == IMREC_OK) {
        const bool again = r.rewritten == 0;
        must(convert("mem://b.rec", "mem://c.tfrecord", &r) == IMREC_OK);
        must(are_same("mem://a.tfrecord", "mem://c.tfrecord") == again);
    }
    (void)convert("mem://a.tfrecord", "mem://d.tar", &r);
    buf_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const struct bytes rest = {data + 1, size - 1};
    if (data[0] < 128)
        read_list(rest);
    else
        read_example(rest);
    mem_clear();
    must(imrec_alloc_live() == 0);
    return 0;
}
