/* imrec/sequences.h - the sequences of CNTK text and binary files as they are, one after the other
 * in the files' order: for tools, and to check files. Training reads imrec/minibatch.h. */
#ifndef IMREC_SEQUENCES_H
#define IMREC_SEQUENCES_H

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
    const void *values;   /* float or double, as `precision` says */
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

/* d as for imrec_minibatch_source_open(), borrowed until close. problem may be NULL. */
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

#ifdef __cplusplus
}
#endif
#endif
