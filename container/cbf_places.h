/* container/cbf_places.h - where the images of a chunk are, and what its small streams say of
 * them. Private to cbf.c. */
#ifndef IMREC_CONTAINER_CBF_PLACES_H
#define IMREC_CONTAINER_CBF_PLACES_H

#include "container/cbf.h"
#include "formats/cbf/cbf_header.h"

/* Those that are read when it is known where every stream is begin with CBF_LENGTH. */
enum cbf_role {
    CBF_IMAGE,
    CBF_FIELDS,
    CBF_FIELDS_LENGTH,
    CBF_LENGTH,
    CBF_LABEL,
    CBF_ID,
    CBF_ROLES
};
#define CBF_NO_STREAM UINT32_MAX

struct cbf_places {
    struct container *container;
    uint32_t shard;
    const struct cbf_header *h;
    uint32_t stream[CBF_ROLES]; /* which has the role; or CBF_NO_STREAM */
    uint32_t which;             /* chunk */
    uint64_t number;            /* of its first sequence, over all files */
    /* private */
    uint64_t begin, end;  /* of the chunk, bytes of the file */
    uint64_t until;       /* no more is read ahead */
    uint64_t first;       /* number of its first sequence in the file */
    bool have[CBF_ROLES]; /* which have been read */
    uint8_t *buffer;
    size_t room;
    uint64_t seen, seen_end; /* bytes of the file in the buffer */
    struct imrec_error *err;
};

/* Fills s->records and labels of all sequences of the chunk. What is wrong
 * with the chunk is a loss; only IMREC_ERR_NO_MEMORY is a failure. */
IMREC_NODISCARD enum imrec_status cbf_places_read(struct cbf_places *p, struct imrec_error *err);
void cbf_places_free(struct cbf_places *p); /* its buffer */
#endif
