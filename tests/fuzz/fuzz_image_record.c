/* tests/fuzz/fuzz_image_record.c - arbitrary bytes: views stay inside the record, and what was
 * parsed packs to a record that parses the same. */
#include "formats/recordio/image_record.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_record r;
    if (image_record_parse((struct bytes){data, size}, &r, NULL) != IMREC_OK)
        return 0;
    if (r.image.p + r.image.n != data + size || r.label_count == 0 ||
        r.labels.p + 4 * (size_t)r.label_count > data + size)
        abort();
    float *labels = malloc(r.label_count * sizeof(float));
    for (uint32_t i = 0; i < r.label_count; i++)
        labels[i] = image_record_label(&r, i);
    struct buf out = BUF_INIT(SIZE_MAX);
    struct image_record again;
    if (image_record_head(&out, labels, r.label_count, r.flag == 1, r.id, r.id2, NULL) !=
            IMREC_OK ||
        image_record_parse((struct bytes){out.p, out.n}, &again, NULL) != IMREC_OK ||
        again.flag != r.flag || again.id != r.id || again.id2 != r.id2)
        abort();
    buf_free(&out);
    free(labels);
    return 0;
}
