/* container/record_head.h - the head of a record alone, where an index says where it begins. */
#ifndef IMREC_CONTAINER_RECORD_HEAD_H
#define IMREC_CONTAINER_RECORD_HEAD_H

#include "container/container.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/recordio.h"

struct record_head {
    uint8_t bytes[RECORDIO_PART_HEAD_BYTES + IMAGE_RECORD_HEADER_BYTES];
    bool is_image; /* it has an image record header with room for its labels */
    uint32_t flag; /* of that header: labels after it; 0: the one in it */
};

/* Bytes to name in source_will_need(). */
#define RECORD_HEAD_BYTES sizeof(((struct record_head *)0)->bytes)

/* False where bytes [begin, end) of the shard are not one whole record in one part. */
bool record_head_read(const struct shard *h, uint64_t begin, uint64_t end, struct record_head *out);
#endif
