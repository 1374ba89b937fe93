/* tests/fuzz/fuzz_mean_image.c - arbitrary bytes: refused, or values that write and read the
 * same. */
#include "formats/set/mean_image.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mean_image m, again;
    struct buf out = BUF_INIT(SIZE_MAX);
    if (mean_image_read("f", (struct bytes){data, size}, &m, NULL) != IMREC_OK)
        return 0;
    if (m.values.n > size || m.values.n != 4 * (size_t)m.channels * m.height * m.width)
        abort();
    float *values = malloc(m.values.n);
    mean_image_values(&m, values);
    if (mean_image_write(&out, values, m.channels, m.height, m.width, NULL) != IMREC_OK ||
        mean_image_read("f", (struct bytes){out.p, out.n}, &again, NULL) != IMREC_OK ||
        again.values.n != m.values.n || memcmp(again.values.p, m.values.p, m.values.n) != 0)
        abort();
    free(values);
    buf_free(&out);
    return 0;
}
