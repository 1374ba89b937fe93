/* tests/fuzz/fuzz_manifest.c - arbitrary text: refused, or a manifest that writes and reads the
 * same. */
#include "formats/set/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest m, again;
    struct buf out = BUF_INIT(SIZE_MAX), twice = BUF_INIT(SIZE_MAX);
    if (manifest_read("f", (struct bytes){data, size}, &m, NULL) != IMREC_OK)
        return 0;
    if (manifest_write(&m, &out, NULL) != IMREC_OK ||
        manifest_read("f", (struct bytes){out.p, out.n}, &again, NULL) != IMREC_OK ||
        manifest_write(&again, &twice, NULL) != IMREC_OK || out.n != twice.n ||
        memcmp(out.p, twice.p, out.n) != 0)
        abort();
    manifest_free(&m);
    manifest_free(&again);
    buf_free(&out);
    buf_free(&twice);
    return 0;
}
