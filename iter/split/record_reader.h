/* iter/split/record_reader.h - what imrec_reader_*() stand on; private to its three files. */
#ifndef IMREC_ITER_SPLIT_RECORD_READER_H
#define IMREC_ITER_SPLIT_RECORD_READER_H

#include "base/buf.h"
#include "imrec/records.h"
#include "iter/split/metadata.h"
#include "iter/split/picture_reader.h"
#include "iter/split/scan.h"

struct imrec_reader {
    struct split split;
    struct scan scan;
    uint32_t shard; /* that the scan is in */
    bool begun;     /* the scan is in it */
    struct damage {
        uint32_t shard;
        uint64_t begin, end;
    } damage;
    float *labels;
    uint32_t label_room;
    struct picture_reader pictures; /* of CBF files: nothing else is used */
    bool keep_framed;               /* set by who reads `framed` */
    struct bytes framed; /* the record given last as it stands in the shard; none of CBF files */
    struct buf parts;    /* its copy, where parts were joined in their own bytes */
};

/* Room for so many labels in r->labels. */
IMREC_NODISCARD enum imrec_status
reader_room_for_labels(struct imrec_reader *r, uint32_t count, struct imrec_error *err);
#endif
