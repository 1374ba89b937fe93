/* dataset/record_reader.h - the reader of imrec_reader_*(), with what only the library uses. */
#ifndef IMREC_DATASET_RECORD_READER_H
#define IMREC_DATASET_RECORD_READER_H

#include "base/buf.h"
#include "container/container.h"
#include "container/metadata.h"
#include "container/walk/recordio_scan.h"
#include "dataset/given_fields.h"
#include "dataset/table_reader.h"
#include "imrec/reader_options.h"
#include "imrec/records.h"

struct imrec_reader {
    struct container container;
    struct scan scan;
    uint32_t shard;           /* that the scan is in */
    bool begun;               /* the scan is in it */
    struct unit_range damage; /* that was met last */
    float *labels;
    uint64_t label_room;
    struct table_reader table; /* of a kind with own_index: nothing else is used */
    bool keep_framed;          /* set by who reads `framed` */
    struct bytes framed; /* the last record returned, as stored in the shard; none of CBF files */
    struct buf parts;    /* its copy, where parts were joined in their own bytes */
    struct given_fields fields;
};

/* Room for this many labels in r->labels. */
IMREC_NODISCARD enum imrec_status
reader_room_for_labels(struct imrec_reader *r, uint32_t count, struct imrec_error *err);
/* Adds a caller's options, which may be NULL, to *to. */
IMREC_NODISCARD enum imrec_status reader_options_take(const struct imrec_reader_options *o,
                                                      struct container_options *to,
                                                      struct imrec_error *err);
/* shard_list_open() of the files that the options mean. */
IMREC_NODISCARD enum imrec_status
reader_shards(const char *uri, const struct imrec_reader_options *o, enum shard_look look,
              struct shard_list *out, struct imrec_error *err);
/* Opens a reader as the options say, which are those of a reader but for path, partition and looks.
 */
IMREC_NODISCARD enum imrec_status imrec_reader_open_as(const struct container_options *o,
                                                       struct imrec_reader **out,
                                                       struct imrec_error *err);
#endif
