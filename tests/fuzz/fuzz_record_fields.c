/* tests/fuzz/fuzz_record_fields.c - arbitrary bytes behind a record's labels, with a checksum made
 * right where the input asks for it: fields within their bounds, or refused; written again, the
 * same. */
#include "formats/crc32c.h"
#include "formats/recordio/record_fields.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An odd first byte: the last 20 bytes become the trailer of what is before them. */
static void make_right(uint8_t *p, size_t n)
{
    if (n < RECORD_FIELDS_TRAILER_BYTES)
        return;
    uint8_t *trailer = p + n - RECORD_FIELDS_TRAILER_BYTES;
    const uint32_t bytes = load_le32(trailer + 4);
    memcpy(trailer + 12,
           "\x8b"
           "flds1\r\n",
           8);
    if (bytes <= n - RECORD_FIELDS_TRAILER_BYTES)
        store_le32(trailer + 8, crc32c(0, trailer - bytes, (size_t)bytes + 8));
}

static void check(const struct record_payload *p, struct bytes all)
{
    struct bytes rest = p->fields;
    struct record_field f[64];
    struct buf again = BUF_INIT((size_t)1 << 24);
    uint32_t n = 0;
    for (; n < 64 && record_fields_next(&rest, &f[n]); n++)
        must(f[n].name.p > p->fields.p && f[n].value.p + f[n].value.n <= rest.p);
    must(n == 64 || (n == p->field_count && rest.n == 0));
    if (n != 0 && n < 64) {
        must(record_fields_append(&again, f, n, NULL) == IMREC_OK);
        must(again.n == all.n - p->image.n && memcmp(again.p, all.p + p->image.n, again.n) == 0);
    }
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_payload p;
    if (size == 0)
        return 0;
    uint8_t *copy = malloc(size);
    must(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    const struct bytes all = {copy, size - 1};
    if (data[0] % 2 != 0)
        make_right(copy, all.n);
    const enum imrec_status st = record_payload_split(all, &p, NULL);
    must(p.image.p == copy && p.image.n <= all.n);
    must(st == IMREC_OK || (p.image.n == all.n && p.mask.n == 0 && p.field_count == 0));
    if (p.fields.p != NULL)
        check(&p, all);
    free(copy);
    return 0;
}
