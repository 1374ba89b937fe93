/* container/cbf.h - CBF files whose sequences are images: where each one is.
 *
 * Such a file is its own index: the header counts its sequences, and a chunk's small streams say
 * where its images are and what they are labelled. So it is read as an indexed shard is; a unit
 * is a sequence. docs/formats/cbf.md says which streams hold what. */
#ifndef IMREC_CONTAINER_CBF_H
#define IMREC_CONTAINER_CBF_H

#include "container/container.h"

#define CBF_LOST UINT32_MAX /* indexed_record.bytes: a cbf_loss says why */

struct cbf_loss { /* of sequences [first, end), counted over all files */
    uint64_t first, end;
    struct imrec_error why;
};

struct cbf_rest {    /* the sequence of `fields` */
    uint64_t offset; /* 0: the file has no such stream */
    uint32_t bytes;
};

struct cbf_images {
    bool pixels;           /* decoded ones: values in planes */
    uint8_t *labels;       /* of unit after unit, label_count little-endian floats each */
    uint64_t *first;       /* [shards]: number of its first sequence, over all files */
    uint64_t begin;        /* the number of unit 0 */
    struct cbf_rest *rest; /* of unit after unit; NULL: no file has fields */
    struct cbf_loss *losses;
    size_t loss_count;
    uint64_t loss_room;
};

extern const struct container_kind cbf_kind;

/* cbf_ids.c: takes the ids of the list next to the files, if it has a line for each of their
 * sequences; else all ids are unchanged. */
void cbf_ids_of_list(struct container *s);

/* Elements of 4 bytes that bytes of an image take, or of fields, of which no sequence is empty. */
static inline uint32_t cbf_elements(uint32_t bytes, bool fields)
{
    const uint32_t n = bytes / 4 + (bytes % 4 != 0);
    return n == 0 && fields ? 1 : n;
}

static inline struct cbf_images *cbf_of(const struct container *c)
{
    return c->state;
}

#endif
