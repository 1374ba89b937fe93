/* minibatch/sequence_pack.h - sequences out of blocks into the arrays of a minibatch, whose memory
 * is used again. */
#ifndef IMREC_MINIBATCH_SEQUENCE_PACK_H
#define IMREC_MINIBATCH_SEQUENCE_PACK_H

#include "base/reuse_buffer.h"
#include "formats/sequence_chunk.h"
#include "imrec/minibatch.h"

#define PACK_WHOLE UINT32_MAX

/* A sequence, or a piece of it, and where it goes. */
struct pack_piece {
    uint32_t begin, count; /* samples; PACK_WHOLE: all from begin on */
    uint32_t row, column;
    uint32_t samples; /* on the timeline */
    bool begins;      /* with its sequence's first sample */
};

/* A stream's arrays. Begin with zeroed memory. */
struct packed_stream {
    struct reuse_buffer values, mask, length, row, column, indices, row_start;
};

/* Lays views[0..pieces) of a stream out. rows, width: of truncated sequences; 0, 0: a row a piece,
 * as wide as the longest. Fills all of *out but its name. */
IMREC_NODISCARD enum imrec_status
pack_stream(struct packed_stream *s, const struct stream_info *info,
            const struct sequence_view *views, const struct pack_piece *piece, uint64_t pieces,
            uint64_t rows, uint64_t width, struct imrec_minibatch_stream *out,
            struct imrec_error *err);
void packed_stream_free(struct packed_stream *s);
#endif
