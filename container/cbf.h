/* container/cbf.h - CBF files whose sequences are images: where each one is.
 *
 * Such a file is its own index: the header counts its sequences, and a chunk's small streams say
 * where its images are and what they are labelled. So it is read as an indexed shard is; a unit
 * is a sequence. docs/formats/cbf.md says which streams hold what. */
#ifndef IMREC_CONTAINER_CBF_H
#define IMREC_CONTAINER_CBF_H

#include "base/bytes.h"
#include "container/partition.h"
#include "formats/sequence_chunk.h"

#define CBF_LOST UINT32_MAX /* indexed_record.bytes: cbf_loss() says why */

struct cbf_loss { /* of sequences [first, end), counted over all files */
    uint64_t first, end;
    struct imrec_error why;
};

struct cbf_images {
    bool pixels;                 /* decoded ones: values of `element` in planes */
    uint32_t values;             /* of a decoded image */
    enum stream_element element; /* of these */
    uint32_t label_count;        /* kept of each image */
    uint8_t *labels;             /* of unit after unit, little-endian floats */
    uint64_t *first;             /* [shards]: number of its first sequence, over all files */
    uint64_t begin;              /* the number of unit 0 */
    struct cbf_loss *losses;
    size_t loss_count, loss_room;
};

/* Cuts the partition out of the sequences of all shards, and fills s->cbf and s->records. A chunk
 * or sequence that cannot be used is a loss, no failure. */
IMREC_NODISCARD enum imrec_status cbf_images_open(struct split *s, struct imrec_error *err);
void cbf_images_close(struct cbf_images *c); /* NULL is fine */

/* Number of the unit's sequence in its file. Pure. */
uint64_t cbf_sequence_number(const struct split *s, uint64_t unit);
/* c->label_count little-endian floats. */
struct bytes cbf_labels(const struct split *s, uint64_t unit);
/* Why the unit was lost when the files were opened; NULL: it was not. */
const struct imrec_error *cbf_loss(const struct split *s, uint64_t unit);
/* Whether the count in front of an image, at p, is the one that was expected. */
IMREC_NODISCARD enum imrec_status
cbf_check_count(const struct split *s, uint64_t unit, const uint8_t *p, struct imrec_error *err);
uint64_t cbf_images_memory(const struct split *s);
#endif
