/* imrec/sequences.h - the sequences of CNTK text and binary files as they are, one after the other
 * in the files' order: for tools, and to check files. Training reads imrec/minibatch.h. */
#ifndef IMREC_SEQUENCES_H
#define IMREC_SEQUENCES_H

#include "imrec/cbf.h"
#include "imrec/minibatch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct imrec_sequences;

/* What a stream has of a sequence. Arrays are packed and may stand at odd addresses: copy values
 * out with memcpy(). */
struct imrec_sequence_stream {
    uint32_t samples;     /* 0: none */
    uint64_t value_count; /* dense: samples * dim; sparse: all that are stored */
    const void *values;   /* float or double, as imrec_sequences_streams() says of the stream */
    const void *indices;  /* sparse: int32 of each value; else NULL */
    const void *counts;   /* sparse: int32 of each sample, how many values it has; else NULL */
};
struct imrec_sequence {
    uint64_t id;     /* text: its id, or the number of its line; binary: its number */
    const char *uri; /* of its file */
    const struct imrec_sequence_stream *stream; /* as imrec_sequences_streams() lists them */
};
struct imrec_sequences_totals {
    uint64_t bytes, chunks, sequences, samples; /* as the index, or the header, says */
    uint64_t read, problems, lost; /* so far: sequences, bad samples, sequences left out */
};
/* Something that is wrong: byte of the file, and a sentence with file, line and column. */
typedef void imrec_sequences_problem_fn(void *user, uint64_t offset, const char *message);

/* d as for imrec_minibatch_source_open(), borrowed until close. precision: of streams that do not
 * say their own. problem may be NULL. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_sequences_open(const struct imrec_deserializer *d, enum imrec_precision precision,
                     imrec_sequences_problem_fn *problem, void *user, struct imrec_sequences **out,
                     struct imrec_error *err);
/* The next one, valid until the next call; IMREC_END behind the last. What is bad is told and left
 * out; what is more than d->max_errors is IMREC_ERR_CORRUPT, and the last call. One thread. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_sequences_next(struct imrec_sequences *s,
                                                                 struct imrec_sequence *out,
                                                                 struct imrec_error *err);
/* How many streams there are; *out lists them. */
IMREC_API uint32_t imrec_sequences_streams(const struct imrec_sequences *s,
                                           const struct imrec_stream **out);
IMREC_API struct imrec_sequences_totals imrec_sequences_totals(const struct imrec_sequences *s);
IMREC_API void imrec_sequences_close(struct imrec_sequences *s); /* NULL is allowed */

struct imrec_cbf_writer; /* opaque; one thread at a time */

/* A binary file of such sequences. stream: name, storage, type of the values and dim of each;
 * copied. chunk_bytes: of a chunk, 0 = 32 MiB. Nothing stands under `path` before _commit(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_writer_open(const char *path, const struct imrec_cbf_stream *stream, uint32_t streams,
                      uint64_t chunk_bytes, struct imrec_cbf_writer **out, struct imrec_error *err);
/* stream[streams], values of the type that each was opened with. length: samples that minibatches
 * count; 0 = those of the longest stream. After IMREC_ERR_ARGUMENT (a count or an index that
 * cannot be) nothing was appended. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_writer_append(struct imrec_cbf_writer *w, const struct imrec_sequence_stream *stream,
                        uint32_t length, struct imrec_error *err);
/* Makes the file real; it needs a sequence. *out (may be NULL): bytes, chunks, sequences, samples.
 * The writer is gone either way. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_writer_commit(struct imrec_cbf_writer *w, struct imrec_sequences_totals *out,
                        struct imrec_error *err);
IMREC_API void imrec_cbf_writer_abort(struct imrec_cbf_writer *w); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
