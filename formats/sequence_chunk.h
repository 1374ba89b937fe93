/* formats/sequence_chunk.h - the sequences of a chunk in memory, laid out as CBF's data section,
 * whichever file they came from: the one form between readers and minibatches.
 *
 * A stream's bytes hold its sequences one after the other, little-endian, packed:
 *   dense   u32 N; N * dim values
 *   sparse  u32 N; i32 NNZ; NNZ values; NNZ x i32 index; N x i32 values of each sample
 * Nothing is aligned: load and copy with memcpy(). The maker of a chunk has checked it: counts fit
 * their bytes, an index is in [0, dim), counts of samples sum to NNZ. */
#ifndef IMREC_FORMATS_SEQUENCE_CHUNK_H
#define IMREC_FORMATS_SEQUENCE_CHUNK_H

#include "base/bytes.h"

#include <string.h>

enum stream_storage { STREAM_DENSE = 0, STREAM_SPARSE = 1 }; /* the numbers of CBF */
enum stream_element { STREAM_FLOAT = 0, STREAM_DOUBLE = 1 };

struct stream_info {
    const char *name;  /* outside: for the program */
    const char *alias; /* in the file */
    enum stream_storage storage;
    enum stream_element element; /* of the values in a chunk */
    uint32_t dim;                /* values of a dense sample; bound of a sparse one's indices */
    bool defines_mb_size;        /* a sequence is as long as it is in this stream */
};

static inline size_t stream_element_bytes(enum stream_element e)
{
    return e == STREAM_FLOAT ? 4 : 8;
}

struct chunk_stream {
    const uint8_t *bytes;
    const uint64_t *offset; /* sequences + 1: where each begins in bytes, and the end */
};

/* Views; the memory belongs to the maker of the chunk. */
struct sequence_chunk {
    uint32_t sequences, streams;
    const uint32_t *length; /* of each sequence: its samples on the timeline */
    const uint64_t *key;    /* of each: its id in the file; NULL: first_key + i */
    uint64_t first_key;
    uint64_t samples; /* sum of length[] */
    const struct chunk_stream *stream;
};

/* One sequence of one stream. */
struct sequence_view {
    uint32_t samples;       /* 0: the sequence has none in this stream */
    uint32_t nnz;           /* sparse: all values; dense: samples * dim is their number */
    const uint8_t *values;  /* float or double */
    const uint8_t *indices; /* sparse: i32 */
    const uint8_t *counts;  /* sparse: i32 of each sample */
};

/* Value i of packed ones. */
static inline double stream_value(const uint8_t *values, enum stream_element element, uint64_t i)
{
    if (element == STREAM_FLOAT)
        return (double)load_le_float(values + 4 * i);
    double d;
    const uint64_t bits = load_le64(values + 8 * i);
    memcpy(&d, &bits, sizeof(d));
    return d;
}

static inline struct sequence_view sequence_view(const struct sequence_chunk *c, uint32_t stream,
                                                 uint32_t sequence, const struct stream_info *info)
{
    const struct chunk_stream *s = &c->stream[stream];
    const uint8_t *p = s->bytes + s->offset[sequence];
    struct sequence_view v = {.samples = load_le32(p), .values = p + 4};
    if (info->storage == STREAM_SPARSE) {
        v.nnz = load_le32(p + 4);
        v.values = p + 8;
        v.indices = v.values + v.nnz * stream_element_bytes(info->element);
        v.counts = v.indices + (size_t)v.nnz * 4;
    }
    return v;
}
#endif
