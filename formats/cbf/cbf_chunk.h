/* formats/cbf/cbf_chunk.h - the bytes of a chunk, checked, as sequences. No I/O.
 *
 * A chunk is
 *     u32 x S                 length of each sequence on the timeline
 *     streams in their order, of each its S sequences as sequence_chunk.h has them
 * so nothing is moved: the views point into the caller's bytes. Values of dense streams are not
 * read; every index of a sparse stream is. */
#ifndef IMREC_FORMATS_CBF_CBF_CHUNK_H
#define IMREC_FORMATS_CBF_CBF_CHUNK_H

#include "formats/cbf/cbf_header.h"

/* A part that cannot be used. After a count that does not fit, nothing more of the chunk can be
 * read: the chunk is lost. A wrong index loses its sequence, in all streams. */
struct cbf_fault {
    uint32_t chunk;
    uint32_t sequence; /* in the chunk; of a whole chunk 0 */
    uint32_t lost;     /* sequences: 1, or all of the chunk */
    bool whole_chunk;
};
/* *err says why. IMREC_OK: drop it and continue; any other status ends the call. */
typedef enum imrec_status
cbf_fault_fn(void *user, const struct cbf_fault *fault, struct imrec_error *err);

/* Has the bytes of a chunk read up to `upto`, which only grows from call to call. The bytes that
 * are checked next have then just been read and are in the cache. */
typedef enum imrec_status cbf_more_fn(void *user, size_t upto, struct imrec_error *err);

/* How chunks are read; zeroed: as stored, and the first fault is an error. */
struct cbf_reading {
    const enum stream_element *element; /* [streams] wanted; NULL: as stored */
    cbf_fault_fn *on_fault;             /* NULL: the first one is the error */
    cbf_more_fn *more;                  /* NULL: all bytes have been read */
    void *user;
};

/* Reused from chunk to chunk; begin with zeroed memory. One thread at a time. */
struct cbf_chunk {
    struct sequence_chunk view;
    struct chunk_stream *stream;
    uint64_t *offset; /* [streams][sequences + 1] */
    uint32_t *length;
    uint64_t *key;
    uint8_t *dropped;   /* [sequences] */
    uint8_t *rewritten; /* streams whose bytes differ from the file's */
    size_t stream_cap, offset_cap, length_cap, key_cap, dropped_cap, rewritten_cap;
    uint32_t lost; /* sequences dropped from this chunk */
};

/* Reads chunk `which`; `raw` is its bytes, h->chunk[which].bytes of them, and must outlive the
 * view. first_key: number of its first sequence in the file. On success c->view holds it, valid
 * until the next call on c; it may have no sequence where all were dropped. */
IMREC_NODISCARD enum imrec_status
cbf_chunk_parse(const struct cbf_header *h, uint32_t which, struct bytes raw, uint64_t first_key,
                const struct cbf_reading *how, struct cbf_chunk *c, struct imrec_error *err);
void cbf_chunk_free(struct cbf_chunk *c);
#endif
