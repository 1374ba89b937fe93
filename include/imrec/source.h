/* imrec/source.h - the iterator reads records of your own format: registered under a name, or in a
 * shared library. See docs/guide/sources.md. */
#ifndef IMREC_SOURCE_H
#define IMREC_SOURCE_H

#include "imrec/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file whose records are to be listed. Every pointer is valid during the call only. */
struct imrec_source_file {
    size_t struct_size;
    const char *uri;
    uint64_t size;      /* bytes */
    const char *params; /* the text in parentheses after the source's name, or "" */
    void *user;         /* of the registration */
    void *state; /* initially NULL; the calls of parse for this file see what you store here */
    /* Reads n bytes of the file. More than it has are IMREC_ERR_ARGUMENT. */
    enum imrec_status (*read)(struct imrec_source_file *file, uint64_t offset, void *to, size_t n,
                              struct imrec_error *err);
    /* Adds the file's next record. Records must ascend, must not overlap, and have 1 byte to 2 GiB.
     * `offset` identifies the sample; the id is delivered with it. */
    enum imrec_status (*add)(struct imrec_source_file *file, uint64_t offset, uint64_t bytes,
                             uint64_t id, struct imrec_error *err);
    void *library; /* for the library */
};

/* A record that becomes a sample. Every pointer is valid during the call only. */
struct imrec_source_call {
    size_t struct_size;
    const char *uri;
    uint64_t offset, id;  /* as added */
    const uint8_t *bytes; /* the record; any alignment */
    size_t n;
    float *labels;       /* to write */
    uint32_t label_room; /* number of labels: label_width, or label_pad_width with boxes */
    const char *params;
    void *user, *state;
    /* Returns memory of this thread, at most 4 bytes for each of max_pixels, valid until the image
     * is made. A second call may move it, like realloc(). NULL: there is no memory. */
    void *(*room)(const struct imrec_source_call *call, size_t bytes);
    void *library; /* for the library */
    /* With dtype_label=float64 double[label_room], with int64 int64_t[label_room], otherwise NULL.
     * A source may write these instead of `labels` and set `typed`. Labels that a source writes to
     * `labels` are converted; for int64 a fraction fails the sample. */
    void *typed_labels;
    enum imrec_label_dtype dtype_label;
};

/* The result of parse: a compressed image (any format that the library reads), or pixels. Both must
 * be in the record or in the room. */
struct imrec_source_sample {
    size_t struct_size;
    uint64_t id;          /* as added; may be changed */
    uint32_t label_count; /* may exceed label_room: then write only label_room of them */
    const uint8_t *encoded;
    size_t encoded_bytes;
    struct imrec_image image; /* if encoded is NULL: 8 bits, upright */
    bool typed;               /* typed_labels were written, not labels */
};

/* Lists the records of a file; called at opening, one file after the other, by one thread. */
typedef enum imrec_status
imrec_source_index_fn(struct imrec_source_file *file, struct imrec_error *err);
/* Parses a record; called by many threads at once, perhaps several times for the same record. An
 * error fails the sample. */
typedef enum imrec_status imrec_source_parse_fn(const struct imrec_source_call *call,
                                                struct imrec_source_sample *out,
                                                struct imrec_error *err);
/* Frees what index stored in file->state, also if index failed; not called for NULL. */
typedef void imrec_source_close_fn(void *state, void *user);

#define IMREC_SOURCE_MAGIC 0x72536d69u
#define IMREC_SOURCE_ABI   1u
struct imrec_source {
    uint32_t magic, abi;
    const char *suffix; /* of files in a folder, ".mine"; NULL: all of them */
    imrec_source_index_fn *index;
    imrec_source_parse_fn *parse;
    imrec_source_close_fn *close; /* may be NULL */
};

/* Registers a source under `name`. Iterators that are opened later with source=NAME or NAME(params)
 * read path_imgrec with it. A name consists of up to 63 letters, digits, - and _, must be new, and
 * cannot be removed. magic and abi need not be set; *source is copied, its suffix is not. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_source_register(const char *name, const struct imrec_source *source, void *user,
                      struct imrec_error *err);

/* For a shared library: IMREC_SOURCE(NAME, suffix, index, parse, close) at the end of a source file
 * defines what source=./libmine.so:NAME loads. */
#ifdef __cplusplus
#define IMREC_SOURCE(name, suffix, index, parse, close)                                            \
    extern "C" IMREC_API const struct imrec_source name;                                           \
    const struct imrec_source name = {                                                             \
        IMREC_SOURCE_MAGIC, IMREC_SOURCE_ABI, suffix, index, parse, close}
#else
#define IMREC_SOURCE(name, suffix, index, parse, close)                                            \
    extern IMREC_API const struct imrec_source name;                                               \
    const struct imrec_source name = {                                                             \
        IMREC_SOURCE_MAGIC, IMREC_SOURCE_ABI, suffix, index, parse, close}
#endif

#ifdef __cplusplus
}
#endif
#endif
