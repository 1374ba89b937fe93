/* tests/fuzz/fuzz_wav.c - arbitrary bytes: refused, or frames that stand within them. */
#include "codec/wav.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wav w;
    if (wav_parse((struct bytes){data, size}, &w, NULL) != IMREC_OK)
        return 0;
    const uint64_t bytes = w.info.samples * w.info.channels * 2;
    if (bytes == 0 || w.frames < data || bytes > size - (size_t)(w.frames - data))
        abort();
    return 0;
}
