/* imrec/sequences.h - reads the sequences of CNTK text and binary files one by one in file order,
 * and writes binary files: for tools and checks. For training, see imrec/minibatch.h. */
#ifndef IMREC_SEQUENCES_H
#define IMREC_SEQUENCES_H

#include "imrec/cbf.h"
#include "imrec/minibatch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct imrec_sequences;

/* The part of a sequence in one stream. Arrays are packed and may be unaligned: copy values with
 * memcpy(). */
struct imrec_sequence_stream {
    uint32_t samples;     /* 0: none */
    uint64_t value_count; /* dense: samples * dim; sparse: all stored values */
    const void *values;   /* float or double, see imrec_sequences_streams() */
    const void *indices;  /* sparse: int32 for each value; otherwise NULL */
    const void *counts;   /* sparse: int32 for each sample, its number of values; otherwise NULL */
};
struct imrec_sequence {
    uint64_t id;     /* text: its id, or the number of its line; binary: its number */
    const char *uri; /* of its file */
    const struct imrec_sequence_stream *stream; /* in the order of imrec_sequences_streams() */
};
struct imrec_sequences_totals {
    uint64_t bytes, chunks, sequences, samples; /* from the index, or the header */
    uint64_t read, problems, lost; /* so far: sequences, bad samples, skipped sequences */
};
/* d as for imrec_minibatch_source_open(), valid until close. precision: type of streams without one
 * of their own. A bad sample is a finding, whose reason names file, line and column. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_sequences_open(const struct imrec_deserializer *d, enum imrec_precision precision,
                     imrec_finding_fn *finding, void *user, struct imrec_sequences **out,
                     struct imrec_error *err);
/* Reads the next sequence, valid until the next call; IMREC_END after the last one. Bad samples are
 * reported and skipped; more than d->max_errors of them are IMREC_ERR_CORRUPT, which ends the
 * reading. One thread at a time. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_sequences_next(struct imrec_sequences *s,
                                                                 struct imrec_sequence *out,
                                                                 struct imrec_error *err);
/* Returns the number of streams; *out lists them. */
IMREC_API uint32_t imrec_sequences_streams(const struct imrec_sequences *s,
                                           const struct imrec_stream **out);
IMREC_API struct imrec_sequences_totals imrec_sequences_totals(const struct imrec_sequences *s);
IMREC_API void imrec_sequences_close(struct imrec_sequences *s); /* NULL is allowed */

struct imrec_cbf_writer; /* opaque; one thread at a time */

/* Writes a binary file of such sequences. stream: name, storage, type of the values and dim of
 * each; copied. chunk_bytes: size of a chunk, 0 = 32 MiB. The file gets the name `path` in
 * _commit(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_writer_open(const char *path, const struct imrec_cbf_stream *stream, uint32_t streams,
                      uint64_t chunk_bytes, struct imrec_cbf_writer **out, struct imrec_error *err);
/* Appends a sequence: stream[streams], with values of the type that each stream was opened with.
 * length: samples that minibatches count; 0 = those of the longest stream. After IMREC_ERR_ARGUMENT
 * (an impossible count or index) nothing was appended. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_writer_append(struct imrec_cbf_writer *w, const struct imrec_sequence_stream *stream,
                        uint32_t length, struct imrec_error *err);
/* Completes the file, which needs at least one sequence. *out (may be NULL): bytes, chunks,
 * sequences, samples. Frees the writer, also on failure. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_writer_commit(struct imrec_cbf_writer *w, struct imrec_sequences_totals *out,
                        struct imrec_error *err);
IMREC_API void imrec_cbf_writer_abort(struct imrec_cbf_writer *w); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
