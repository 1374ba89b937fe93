/* imrec/minibatch.h - reads sequences of CNTK text (CTF) and binary (CBF) files as minibatches.
 *
 * A sample is one vector of a stream. A sequence is a group of samples: one id, and some samples of
 * each stream. The source is a timeline that counts samples and never ends: sweep k is the corpus
 * in an order of its own, made from seed + k alone, not from the requested sizes. */
#ifndef IMREC_MINIBATCH_H
#define IMREC_MINIBATCH_H

#include "imrec/error.h"
#include "imrec/traffic.h"
#include "imrec/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum imrec_storage { IMREC_DENSE, IMREC_SPARSE };
enum imrec_precision { IMREC_PRECISION_FLOAT, IMREC_PRECISION_DOUBLE };

/* A stream as the program wants it. Text: all streams must be described. Binary: the file describes
 * them; a description here renames, and must agree with the file otherwise. */
struct imrec_stream {
    const char *name;           /* for the program */
    const char *alias;          /* in the file; NULL = name */
    enum imrec_storage storage; /* "format" */
    uint32_t dim;         /* values of a dense sample; bound of sparse indices; 0 = as stored */
    bool storage_given;   /* compare a binary file's own with `storage` */
    bool defines_mb_size; /* minibatches count the samples of this stream; at most one */
    enum imrec_precision precision; /* of its values, if precision_given; otherwise the source's */
    bool precision_given;
};

/* THE tables (see imrec/iter_params.h): for a file, and below for a source. Names are those of
 * CNTK's pages: keys are compared without case, '_' and '-', so maxErrors means max_errors. */
/* clang-format off */
#define IMREC_DESERIALIZER_PARAMS(X) \
    X(const char *, type,              "",   0, 255,        "reader",  "dataset", "CNTKTextFormatReader, CNTKBinaryReader, their ...Deserializer, text or binary; '' = by the file's bytes") \
    X(const char *, file,              NULL, 1, 65535,      "URI",     "dataset", "a file, or several as one corpus: 'a.ctf;b.ctf', a directory, a glob; also http(s)://, s3://, gs://, az://, hdfs://") \
    X(bool,    skip_sequence_ids,      "0",  0, 1,          "0|1",     "dataset", "text: every line is a sequence, whatever its id") \
    X(int64_t, max_errors,             "0",  0, INT64_MAX,  "errors",  "auxiliary", "bad samples that are dropped and counted before one is an error") \
    X(int64_t, trace_level,            "1",  0, 2,          "0|1|2",   "auxiliary", "log nothing / dropped samples / everything") \
    X(int64_t, chunk_size_in_bytes,    "33554432", 1, INT64_MAX, "bytes", "backend", "text: bytes read at once") \
    X(bool,    keep_data_in_memory,    "0",  0, 1,          "0|1",     "backend", "keep every chunk in memory once it was read") \
    X(bool,    frame_mode,             "0",  0, 1,          "0|1",     "dataset", "every sequence has exactly one sample; others are errors") \
    X(bool,    cache_index,            "0",  0, 1,          "0|1",     "backend", "text: keep the index in a file next to the text") \
    X(bool,    ignore_unknown_inputs,  "0",  0, 1,          "0|1",     "dataset", "text: skip names that no stream has; 0 = an error")
/* clang-format on */

/* The keys of an input, input.NAME.key=value: struct imrec_stream as text. */
/* clang-format off */
#define IMREC_INPUT_PARAMS(X) \
    X(const char *, alias,             "",   1, 255,        "NAME",    "input.NAME", "name of this input in the file; default: NAME") \
    X(enum imrec_storage, format,      "",   0, 1,          "dense|sparse", "input.NAME", "how its samples are written; required for a text, known from a binary file") \
    X(int64_t, dim,                    "",   1, INT32_MAX,  "values",  "input.NAME", "numbers of a dense sample, or the bound of sparse indices; required for a text, known from a binary file") \
    X(bool,    defines_mb_size,        "0",  0, 1,          "0|1",     "input.NAME", "minibatches count the samples of this input; at most one input has it") \
    X(enum imrec_precision, precision, "",   0, 1,          "float|double", "input.NAME", "type of its values; default: precision of the source")
/* clang-format on */

/* A file and its streams; fill with imrec_deserializer_init(). A composite source has several,
 * joined by sequence id; the first one leads. */
struct imrec_deserializer {
    size_t struct_size;
    const struct imrec_stream *stream;
    uint32_t streams;
    IMREC_DESERIALIZER_PARAMS(IMREC_FIELD)
};
IMREC_API void imrec_deserializer_init_sized(struct imrec_deserializer *d, size_t size);
static inline void imrec_deserializer_init(struct imrec_deserializer *d)
{
    imrec_deserializer_init_sized(d, sizeof(*d));
}

/* Special values of epoch_size. */
#define IMREC_INFINITELY_REPEAT INT64_MAX       /* an epoch that never ends */
#define IMREC_FULL_DATA_SWEEP   (INT64_MAX - 1) /* one epoch of one sweep */

enum imrec_rank_mode {
    IMREC_RANK_GLOBAL, /* every rank makes the same minibatches and takes its share */
    IMREC_RANK_LOCAL,  /* CNTK's: complete sequences or chunks by number, size / K each */
};
enum imrec_missing_ids { IMREC_MISSING_ERROR, IMREC_MISSING_DROP };
enum imrec_truncated { IMREC_TRUNCATED_AUTO, IMREC_TRUNCATED_NO, IMREC_TRUNCATED_YES };

/* clang-format off */
#define IMREC_MINIBATCH_PARAMS(X) \
    X(enum imrec_precision, precision, "float", 0, 1, "float|double", "dataset", "type of the values delivered") \
    X(bool,    randomize,              "1",  0, 1,          "0|1",     "dataset", "a new order every sweep; 0 = the files' order") \
    X(int64_t, randomization_seed,     "0",  0, INT64_MAX,  "",        "dataset", "sweep k is shuffled by seed + k") \
    X(int64_t, randomization_window,   "-1", -1, INT64_MAX, "samples|chunks", "dataset", "how far sequences move; -1 = text: 128 chunks, binary and sample_based_randomization_window: everything") \
    X(bool,    sample_based_randomization_window, "0", 0, 1, "0|1",    "dataset", "text: the window counts samples; 0 = chunks") \
    X(const char *, minibatch_size_in_samples, "256", 1, 65535, "samples", "batch", "'128*2+1024': 128 for two epochs, then 1024") \
    X(int64_t, epoch_size,             "9223372036854775807", 1, INT64_MAX, "samples", "batch", "samples of label_stream in an epoch; INFINITELY_REPEAT, FULL_DATA_SWEEP") \
    X(const char *, label_stream,      "",   0, 65535,      "stream",  "batch",   "stream whose samples epoch_size counts; '' = the one that defines the size, else the largest") \
    X(int64_t, max_sweeps,             "0",  0, INT64_MAX,  "sweeps",  "batch",   "sweeps after which the source ends; 0 = never") \
    X(int64_t, max_samples,            "0",  0, INT64_MAX,  "samples", "batch",   "samples after which the source ends; 0 = never") \
    X(int64_t, truncation_length,      "0",  0, 1 << 30,    "samples", "batch",   "cut sequences into pieces of this length (truncated BPTT); 0 = whole sequences") \
    X(int64_t, num_ranks,              "1",  1, 1 << 20,    "K",       "dataset", "processes that share the data") \
    X(int64_t, rank,                   "0",  0, 1 << 20,    "R",       "dataset", "this process, from 0") \
    X(enum imrec_rank_mode, rank_mode, "global", 0, 1,      "global|local", "dataset", "global: every rank takes its share of the same minibatches; local: sequences or chunks by number, as CNTK") \
    X(enum imrec_missing_ids, missing_ids, "error", 0, 1,   "error|drop", "dataset", "composite: error or drop for a sequence that some file lacks") \
    X(int64_t, threads,                "0",  0, 1024,       "workers", "backend", "threads that make minibatches; 0 = every CPU this process may use") \
    X(int64_t, prefetch,               "2",  1, 64,         "minibatches", "backend", "minibatches made ahead, while their sizes are known") \
    X(int64_t, memory_limit,           "0",  0, INT64_MAX,  "bytes",   "backend", "refuse options that need more memory; 0 = no limit") \
    X(enum imrec_truncated, truncated, "auto", 0, 2,        "auto|false|true", "batch", "false: whole sequences, truncation_length is ignored; true: an error without truncation_length") \
    X(const char *, cache,             "",   0, 65535,      "DIR",     "backend", "keep what is read of files on web servers, in buckets and on HDFS in this directory, for later sweeps and other processes") \
    X(int64_t, cache_size,             "0",  0, INT64_MAX,  "bytes",   "backend", "bound of the file in cache=, at least 4M; 0 = the one that it has, 10G for a new one")
/* clang-format on */

struct imrec_minibatch_options {
    size_t struct_size;
    const struct imrec_deserializer *deserializer; /* at least one */
    uint32_t deserializers;
    IMREC_MINIBATCH_PARAMS(IMREC_FIELD)
};
IMREC_API void imrec_minibatch_options_init_sized(struct imrec_minibatch_options *o, size_t size);
static inline void imrec_minibatch_options_init(struct imrec_minibatch_options *o)
{
    imrec_minibatch_options_init_sized(o, sizeof(*o));
}

/* Options that own their text, made from a configuration. */
struct imrec_minibatch_config;
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_config_new(struct imrec_minibatch_config **out, struct imrec_error *err);
IMREC_API void imrec_minibatch_config_free(struct imrec_minibatch_config *c); /* NULL is allowed */
/* Defines $NAME$ ("DataDir=/data") for later calls of _parse() and _load(). It has precedence over
 * the configuration, as on CNTK's command line. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_config_define(struct imrec_minibatch_config *c, const char *name_value,
                              struct imrec_error *err);
/* Parses the text of a configuration: `reader = [ ... ]` or `reader = { ... }` as CNTK's pages
 * print them, with or without `precision = ...`, or a complete configuration (command = ...,
 * actions, each with a reader), of which only the reader is used. Keys that the reader lacks are
 * taken from the sections around it, as in CNTK, and $NAME$ is replaced. If there are several
 * readers, set "action=NAME" first; otherwise the error lists them. `name` is for messages
 * ("file.cntk"). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_config_parse(struct imrec_minibatch_config *c, const char *name, const char *text,
                             size_t n, struct imrec_error *err);
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_config_load(struct imrec_minibatch_config *c, const char *uri,
                            struct imrec_error *err);
/* Sets an option: "maxErrors=3", "file=a.ctf", "input.features.dim=784" (IMREC_INPUT_PARAMS). It
 * overrides earlier calls and configurations. A key of a file is set for all files. `file` replaces
 * the only file, or adds the first one. A key of a stream changes the stream of that name, or adds
 * one if there is one file. "action=NAME" chooses the reader of the configuration that is parsed
 * next, by the name of its section or of its action (train, test, ...). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_config_set(struct imrec_minibatch_config *c, const char *key_value,
                           struct imrec_error *err);
/* Returns the options; valid until the next call on c. */
IMREC_API const struct imrec_minibatch_options *
imrec_minibatch_config_options(const struct imrec_minibatch_config *c);

/* A stream of a minibatch. `precision` is the type of the values, float or double. Sequence s has
 * length[s] samples here, which may be 0; the first one is in row[s], column[s]. Without truncation
 * every sequence has a row of its own, from column 0. With truncation the rows are slots, there are
 * truncation_length columns, and a sequence may be a piece of one. */
struct imrec_minibatch_stream {
    const char *name;
    enum imrec_storage storage;
    uint32_t dim;
    uint64_t sequences, samples;
    uint64_t max_length;    /* of a sequence, samples */
    uint64_t rows, width;   /* samples per row */
    const uint32_t *length; /* [sequences] */
    const uint32_t *row, *column;
    const void *values;       /* dense: [rows][width][dim], zero where there is no sample;
                                 sparse: [nnz], sequence after sequence */
    const uint8_t *mask;      /* dense: [rows][width]: 2 = the first sample of a sequence, 1 = a
                                 later one, 0 = none */
    uint64_t nnz;             /* sparse */
    const int32_t *indices;   /* sparse: [nnz], in the file's order */
    const int64_t *row_start; /* sparse: [samples + 1]: first value of each sample */
    enum imrec_precision precision; /* of the values */
};

/* The source owns every pointer; it is valid until the next call. */
struct imrec_minibatch {
    const struct imrec_minibatch_stream *stream;
    uint32_t streams;
    const uint64_t *ids; /* [sequences]: of each sequence in its file (the first deserializer's) */
    uint64_t sequences;
    uint64_t samples;  /* on the timeline: of this rank */
    uint64_t position; /* of the timeline after this minibatch, in samples, all ranks */
    uint64_t sweep;    /* of its first sequence, from 0 */
    uint64_t epoch;    /* from 0 */
    bool sweep_end;    /* the last sequence of a sweep is in the global minibatch; with truncation
                          its last piece; with local ranks the last one of this rank */
    bool epoch_end;    /* the next minibatch belongs to the next epoch */
};

/* Selects and renames streams for one call: stream `from` of the source is delivered as `to`. */
struct imrec_stream_map {
    const char *from, *to;
};

struct imrec_minibatch_source; /* opaque; one consumer thread at a time */

IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_source_open(const struct imrec_minibatch_options *options,
                            struct imrec_minibatch_source **out, struct imrec_error *err);

/* Delivers the next minibatch, of `size` samples, or, with 0, of the size that
 * minibatch_size_in_samples has for this epoch. It takes as many complete sequences as fit; one
 * that is larger than the size comes alone. map: NULL = every stream under its own name; otherwise
 * `maps` entries. IMREC_OK   *out is a minibatch; a rank's share of it may be empty (sequences ==
 * 0) IMREC_END  max_sweeps, max_samples or FULL_DATA_SWEEP is reached; later calls return the same
 *   errors     bad data beyond max_errors, or storage: nothing was delivered; only _position(),
 *              _seek() and _close() help */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_next(struct imrec_minibatch_source *s, uint64_t size,
                     const struct imrec_stream_map *map, uint32_t maps, struct imrec_minibatch *out,
                     struct imrec_error *err);

/* Returns the position after the last delivered minibatch as JSON text
 * (docs/formats/minibatch_position.md). The source owns it; it is valid until the next call. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_position(struct imrec_minibatch_source *s, const char **json,
                         struct imrec_error *err);
/* Goes to a position of the same data, seed and window, forwards or backwards, from any process;
 * with rank_mode=global the number of ranks may differ. Also allowed after an error or IMREC_END.
 * CNTK's {"minibatchSourcePosition": samples}, also inside another object, means the first sequence
 * that begins at or after that sample. On failure the source stays where it was. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_minibatch_seek(struct imrec_minibatch_source *s, const char *json, struct imrec_error *err);

/* Returns the number of streams; *out lists them in the order of delivery, valid until _close(). */
IMREC_API uint32_t imrec_minibatch_streams(const struct imrec_minibatch_source *s,
                                           const struct imrec_stream **out);

struct imrec_minibatch_stats {
    uint64_t sequences, samples; /* of a sweep, all ranks */
    uint64_t chunks;            /* of the first deserializer's files, as the timeline orders them */
    uint64_t errors;            /* dropped samples, sequences, chunks, up to the last delivered
                                   minibatch */
    uint64_t dropped_sequences; /* those without any sample left; missing_ids=drop */
    uint64_t bytes_read;
    uint64_t memory_bytes; /* tables and chunks */
};
/* Fills *out. */
IMREC_API void
imrec_minibatch_get_stats(struct imrec_minibatch_source *s, struct imrec_minibatch_stats *out);
/* Fills *out with what was moved since opening. Any thread. The inline form passes the caller's
 * size of the struct. */
IMREC_API void imrec_minibatch_get_traffic_sized(struct imrec_minibatch_source *s,
                                                 struct imrec_traffic *out, size_t size);
static inline void
imrec_minibatch_get_traffic(struct imrec_minibatch_source *s, struct imrec_traffic *out)
{
    imrec_minibatch_get_traffic_sized(s, out, sizeof(*out));
}
/* Returns message i, from 0, about what was dropped and why, in the order of the timeline, or NULL.
 * The first 1,000 are kept. Valid until _close(). */
IMREC_API const char *imrec_minibatch_dropped(struct imrec_minibatch_source *s, uint64_t i);
IMREC_API void imrec_minibatch_source_close(struct imrec_minibatch_source *s); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
