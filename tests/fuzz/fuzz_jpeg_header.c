/* tests/fuzz/fuzz_jpeg_header.c - the walk over a JPEG's markers stays inside the bytes, and what
 * it accepts has a size. */
#include "codec/jpeg/jpeg_header.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jpeg_head head;
    uint8_t *copy = malloc(size != 0 ? size : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    if (jpeg_head_read((struct bytes){copy, size}, 10, &head, NULL) == IMREC_OK &&
        (head.width == 0 || head.height == 0 || head.orientation < 1 || head.orientation > 8 ||
         jpeg_head_kind(&head) == NULL || jpeg_head_sampling(&head) == NULL))
        abort();
    free(copy);
    return 0;
}
