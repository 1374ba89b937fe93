/* imrec/convert.h - converts CNTK's text format (CTF) into its binary format (CBF), and back;
 * records of any kind into TFRecord files, and into RecordIO. */
#ifndef IMREC_CONVERT_H
#define IMREC_CONVERT_H

#include "imrec/iter_params.h"
#include "imrec/minibatch.h"
#include "imrec/report.h"
#include "imrec/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table; columns as in imrec/iter_params.h. */
/* clang-format off */
#define IMREC_CONVERT_PARAMS(X) \
    X(const char *, input,      NULL, 1, 65535,  "FILE",  "files", "the text") \
    X(const char *, header,     NULL, 1, 65535,  "FILE",  "files", "its inputs: a line '<name> <alias> <dense|sparse> <dim> [float|double]' each; <alias> is the name in the text, <name> that in the binary file; or a CNTK configuration") \
    X(const char *, output,     NULL, 1, 65535,  "FILE",  "files", "the binary file; it gets its name when it is complete") \
    X(int64_t, chunk_size,      "33554432", 1, INT64_MAX, "bytes", "data", "size of a chunk, which is read at once") \
    X(enum imrec_precision, precision, "float", 0, 1, "float|double", "data", "type of the values in the binary file, where the header gives none; --precision NAME=double,... sets single inputs") \
    X(const char *, defines_mb_size, "", 0, 65535, "NAME", "data", "the input whose samples set the length of a sequence; '' = the longest input of each sequence") \
    X(bool,    skip_sequence_ids, "0", 0, 1,     "",      "data",  "every line is a sequence, whatever its id") \
    X(bool,    ignore_unknown_inputs, "0", 0, 1, "",      "data",  "skip names that are not in the header; 0 = an error") \
    X(int64_t, max_errors,      "0", 0, INT64_MAX, "errors", "data", "bad samples that are dropped and reported before one is an error") \
    X(int64_t, threads,         "0", 0, 1024,    "workers", "run", "threads that convert; 0 = every CPU this process may use") \
    X(const char *, precision_of, "", 0, 65535,  "NAME=float|double,...", "data", "type of single inputs, which overrides the header and --precision") \
    X(const char *, action,     "", 0, 65535,    "NAME",  "files", "action whose reader to use, where the header is a configuration of several readers")
/* clang-format on */

/* Fill with imrec_convert_options_init(), then set input, header and output. Text must stay valid
 * during the call. */
struct imrec_convert_options {
    size_t struct_size;
    IMREC_CONVERT_PARAMS(IMREC_FIELD)
};

struct imrec_convert_result {
    uint64_t sequences, samples, chunks; /* written; samples: sum of the sequences' lengths */
    uint64_t bytes_read, bytes;          /* input; output */
    uint64_t errors;                     /* samples, sequences or chunks dropped */
};

IMREC_API void imrec_convert_options_init_sized(struct imrec_convert_options *o, size_t size);
static inline void imrec_convert_options_init(struct imrec_convert_options *o)
{
    imrec_convert_options_init_sized(o, sizeof(*o));
}

/* Converts text to binary. A progress callback that returns false leaves no file. The bytes do not
 * depend on the number of threads. Memory: some MiB per thread, a chunk, and 24 bytes per sequence.
 * An existing output is replaced when the new one is complete. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_ctf_to_cbf(const struct imrec_convert_options *o, imrec_progress_fn *progress, void *user,
                 struct imrec_convert_result *out, struct imrec_error *err);

/* Converts binary to text. The number of a sequence becomes its id, a line holds the n-th sample of
 * every stream that has one, and numbers read back as the same values. header: NULL, or the file
 * for the header lines of ctf2bin. Names with blanks or pipes, and values that are not finite,
 * cannot be represented in the text: they are errors. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_cbf_to_ctf(const char *input, const char *output, const char *header,
                 imrec_progress_fn *progress, void *user, struct imrec_convert_result *out,
                 struct imrec_error *err);

/* ---- records -------------------------------------------------------------------------------- */

/* Fill with imrec_records_options_init(), then set input and output. Text must stay valid during
 * the call. */
struct imrec_records_options {
    size_t struct_size;
    const char *input;         /* as path_imgrec of the iterator */
    const char *output;        /* NAME.tfrecord, NAME.tfrecords, NAME.rec or NAME.tar; with a range
                                  in it, "NAME-{0000..0015}.tar", that many shards */
    const char *image, *label; /* as those of the iterator; NULL or "": its defaults. label "none":
                                  a RecordIO record has the label 0, an Example none */
    int64_t label_offset;      /* added to every label */
    enum imrec_on_error on_error; /* STOP: damage ends the call; SKIP: it is omitted */
    imrec_finding_fn *finding;    /* of what is omitted; may be NULL */
    imrec_progress_fn *progress;
    void *user;            /* of both */
    const char *path_root; /* of a list: the folder of its files; NULL or "": the current one */
    enum imrec_container container; /* of what kind the files are; AUTO: as they tell */
    const char *mask;               /* as image */
    int64_t shards;     /* cut into this number of equal runs, NAME-00000-of-0000N.tar; 0: no */
    int64_t shard_size; /* begin another shard before one has more bytes; 0: no */
};

/* Later versions may append fields. */
struct imrec_records_result {
    uint64_t records, bytes; /* written */
    uint64_t left_out;       /* damaged records and ranges */
    uint64_t fields;         /* that the output cannot hold: a second one of a name */
    uint64_t unchecked;      /* records that came without a checksum */
    uint64_t rewritten; /* Examples whose values come back from the output, in other bytes: they
                           had more than features, or numbers that were not packed */
    uint64_t shards;    /* written */
};

IMREC_API void imrec_records_options_init_sized(struct imrec_records_options *o, size_t size);
static inline void imrec_records_options_init(struct imrec_records_options *o)
{
    imrec_records_options_init_sized(o, sizeof(*o));
}

/* Writes the records of `input` in their order, images as they are:
 * - into a TFRecord file, with the features of docs/formats/tfrecord.md; records of TFRecord files
 *   are copied byte for byte (label_offset must be 0 then);
 * - into a tar archive, as docs/formats/webdataset.md describes; samples of tars are copied with
 *   their headers (likewise);
 * - into a RecordIO shard, with NAME.idx and NAME.crc; of RecordIO itself imrec_reshape() makes
 *   sets.
 * A record's checksum is compared before. An existing output is replaced when the new one is
 * complete, all shards of it; finished shards of another number are refused. On failure nothing is
 * left. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_convert_records(const struct imrec_records_options *o, struct imrec_records_result *out,
                      struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
