/* tests/fuzz/fuzz_record_mask.c - arbitrary bytes behind a record's labels: cut in two within their
 * bounds or refused; and as a mask's PNG: values of the size told, or refused. */
#include "codec/mask_png.h"
#include "formats/recordio/record_mask.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(struct bytes png)
{
    static struct codec *c;
    struct mask m = {0}, again = {0};
    struct bytes out;
    if (c == NULL)
        must(codec_new(&c, NULL) == IMREC_OK);
    if (codec_decode_mask(c, png, 1 << 16, &m, NULL) == IMREC_OK) {
        must((uint64_t)m.width * m.height <= 1 << 16 && (m.bits == 8 || m.bits == 16));
        for (size_t i = 0; i < (size_t)m.width * m.height; i++)
            must(m.values[i] < 1u << m.bits);
        must(codec_encode_mask(c, &m, &out, NULL) == IMREC_OK);
        must(codec_decode_mask(c, out, -1, &again, NULL) == IMREC_OK);
        must(again.width == m.width && again.height == m.height && again.bits == m.bits &&
             memcmp(m.values, again.values, (size_t)m.width * m.height * sizeof(*m.values)) == 0);
    }
    mask_free(&m);
    mask_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bytes all = {data, size};
    struct bytes image, mask;
    const enum imrec_status st = record_mask_split(all, &image, &mask, NULL);
    must(image.p == data && image.n <= size);
    must(st == IMREC_OK || (image.n == size && mask.n == 0));
    must(mask.n == 0 ||
         (mask.p == data + image.n && image.n + mask.n + RECORD_MASK_TRAILER_BYTES == size));
    decode(mask.n != 0 ? mask : all);
    return 0;
}
