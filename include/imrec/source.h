/* imrec/source.h - records of a format of your own through the iterator's machinery: registered by
 * a name, or in a shared library. docs/guide/sources.md says more. */
#ifndef IMREC_SOURCE_H
#define IMREC_SOURCE_H

#include "imrec/image.h"
#include "imrec/iterator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file whose records are listed. Everything is borrowed for the time of the call. */
struct imrec_source_file {
    size_t struct_size;
    const char *uri;
    uint64_t size;      /* bytes */
    const char *params; /* what stands in parentheses behind the source's name; or "" */
    void *user;         /* of the registration */
    void *state;        /* NULL; what is left here, parse finds in its calls for this file */
    /* n bytes of the file. More than it has are IMREC_ERR_ARGUMENT. */
    enum imrec_status (*read)(struct imrec_source_file *file, uint64_t offset, void *to, size_t n,
                              struct imrec_error *err);
    /* The file's next record. Records ascend, do not overlap, and have 1 byte to 2 GiB; `offset` is
     * the sample's identity, the id is delivered with it. */
    enum imrec_status (*add)(struct imrec_source_file *file, uint64_t offset, uint64_t bytes,
                             uint64_t id, struct imrec_error *err);
    void *library; /* its own */
};

/* A record to be made a sample. Everything is borrowed for the time of the call. */
struct imrec_source_call {
    size_t struct_size;
    const char *uri;
    uint64_t offset, id;  /* as they were added */
    const uint8_t *bytes; /* the record; any alignment */
    size_t n;
    float *labels;       /* to be written */
    uint32_t label_room; /* of them: label_width, or label_pad_width with boxes */
    const char *params;
    void *user, *state;
    /* Memory of this thread, at most 4 bytes for each of max_pixels, until the image is made.
     * Asked for again it may move, as realloc() does. NULL: there is none. */
    void *(*room)(const struct imrec_source_call *call, size_t bytes);
    void *library; /* its own */
    /* With dtype_label=float64 double[label_room], with int64 int64_t[label_room], else NULL: to be
     * written instead of `labels`, by a source that then says so (typed). Labels that a source
     * leaves in `labels` are converted; for int64 a fraction fails the sample. */
    void *typed_labels;
    enum imrec_label_dtype dtype_label;
};

/* What parse finds: a compressed image (any format that the library reads), or pixels. Both stand
 * in the record or in the room. */
struct imrec_source_sample {
    size_t struct_size;
    uint64_t id;          /* it was added with; may be changed */
    uint32_t label_count; /* more than label_room: only as many are written */
    const uint8_t *encoded;
    size_t encoded_bytes;
    struct imrec_image image; /* where encoded is NULL: 8 bits, upright */
    bool typed;               /* typed_labels were written, not labels */
};

/* Lists the records of a file: at opening, one file after the other, by one thread. */
typedef enum imrec_status
imrec_source_index_fn(struct imrec_source_file *file, struct imrec_error *err);
/* By many threads at a time, the same record maybe several times. An error fails the sample. */
typedef enum imrec_status imrec_source_parse_fn(const struct imrec_source_call *call,
                                                struct imrec_source_sample *out,
                                                struct imrec_error *err);
/* Gives up what index left in file->state, also after it failed; not called for NULL. */
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

/* source=NAME or NAME(params) of iterators opened from here on reads path_imgrec with it. A name
 * has letters, digits, - and _, up to 63, and is not taken; it stays for ever. magic and abi need
 * not be set; *source is copied, its suffix is not. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_source_register(const char *name, const struct imrec_source *source, void *user,
                      struct imrec_error *err);

/* In a shared library: source=./libmine.so:NAME finds what IMREC_SOURCE(NAME, suffix, index, parse,
 * close) at the end of a source file defines. */
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
