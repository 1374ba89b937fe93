/* tests/fuzz/fuzz_coco.c - arbitrary text as COCO's instances: lines of a list that read back as
 * boxes inside their images, or an error. */
#include "formats/set/image_list.h"
#include "im2rec/list/annotations.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(struct bytes text, uint32_t keypoints)
{
    struct image_list l;
    struct image_list_entry e;
    enum imrec_status st;
    image_list_begin(&l, "f.lst", 0, text, 0, 0);
    while ((st = image_list_next(&l, &e, NULL)) == IMREC_OK) {
        const uint32_t object = 6 + 3 * keypoints;
        must(e.label_count >= 2 && (e.label_count - 2) % object == 0); /* 2: no object */
        must(e.labels[0] == 2 && e.labels[1] == (float)object);
        for (uint32_t i = 2; i < e.label_count; i += object) {
            const float *box = e.labels + i;
            must(box[0] >= 0 && box[1] >= 0 && box[2] >= 0 && box[3] <= 1 && box[4] <= 1);
            must(box[1] < box[3] && box[2] < box[4]);
        }
    }
    must(st == IMREC_END);
    image_list_end(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t keypoints = (uint32_t)(size % 3);
    const struct annotations_order how = {.shuffle = size % 2 != 0, .seed = 100};
    struct buf text = BUF_INIT(SIZE_MAX);
    struct class_list classes = {0};
    struct annotations b;
    must(mem_put("coco", data, size, NULL) == IMREC_OK);
    if (annotations_read_coco("mem://coco", keypoints, &b, NULL) == IMREC_OK) {
        if (annotations_write(&b, &how, &text, &classes, NULL) == IMREC_OK)
            check_lines((struct bytes){text.p, text.n}, keypoints);
        annotations_free(&b);
    }
    class_list_free(&classes);
    buf_free(&text);
    mem_clear();
    return 0;
}
