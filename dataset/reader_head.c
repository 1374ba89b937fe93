/* dataset/reader_head.c - imrec_reader_head(): labels without images. */
#include "base/error.h"
#include "container/record_head.h"
#include "dataset/record_reader.h"

#define AHEAD 32u /* heads announced to the system before they are read */

/* False where the whole record has to be read. */
static bool give_head(struct imrec_reader *r, const struct unit_range *at, struct imrec_record *out)
{
    struct record_head head;
    struct image_record image;
    const struct shard *h = &r->container.shards[at->shard];
    const struct bytes front = {head.bytes + RECORDIO_PART_HEAD_BYTES, IMAGE_RECORD_HEADER_BYTES};
    if (!record_head_read(h, at->begin, at->end, &head))
        return false;
    *out = (struct imrec_record){.uri = h->uri, .shard = at->shard, .offset = at->begin};
    if (!head.is_image)
        return true;
    store_le32(head.bytes + RECORDIO_PART_HEAD_BYTES, 0); /* the labels are read apart */
    if (image_record_parse(front, &image, NULL) != IMREC_OK)
        return false;
    const uint32_t count = head.flag != 0 ? head.flag : 1;
    if (reader_room_for_labels(r, count, NULL) != IMREC_OK)
        return false;
    r->labels[0] = image.label;
    if (head.flag != 0) {
        image.labels = (struct bytes){(uint8_t *)r->labels, (size_t)count * sizeof(float)};
        if (source_read(h->source, at->begin + RECORD_HEAD_BYTES, r->labels, image.labels.n,
                        NULL) != IMREC_OK)
            return false;
        for (uint32_t i = 0; i < count; i++)
            r->labels[i] = image_record_label(&image, i); /* little-endian, in place */
    }
    out->is_image = true;
    out->id = image.id;
    out->id2 = image.id2;
    out->labels = r->labels;
    out->label_count = count;
    return image_record_shift(r->labels, count, r->container.options.label_offset, NULL) ==
           IMREC_OK;
}

enum imrec_status imrec_reader_head(struct imrec_reader *r, uint64_t number,
                                    struct imrec_record *out, struct imrec_error *err)
{
    uint64_t count;
    IMREC_TRY(imrec_reader_count(r, &count, err));
    if (number < count && !r->container.kind->own_index) {
        const struct unit_range at = container_unit(&r->container, number);
        if (number + AHEAD < count) {
            const struct unit_range later = container_unit(&r->container, number + AHEAD);
            source_will_need(r->container.shards[later.shard].source, later.begin,
                             RECORD_HEAD_BYTES);
        }
        if (give_head(r, &at, out))
            return IMREC_OK;
    }
    IMREC_TRY(imrec_reader_get(r, number, out, err));
    out->data = out->image = out->mask = NULL;
    out->size = out->image_size = out->mask_size = 0;
    return IMREC_OK;
}
