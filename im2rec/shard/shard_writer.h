/* im2rec/shard/shard_writer.h - a shard being written under temporary names, and the door to what
 * kind of file it is.
 *
 * A kind is one constant struct shard_kind, chosen by the packer's `format`: nobody else asks which
 * one it is. */
#ifndef IMREC_IM2REC_SHARD_SHARD_WRITER_H
#define IMREC_IM2REC_SHARD_SHARD_WRITER_H

#include "base/buf.h"
#include "base/image.h"
#include "imrec/packer.h"

#define NAME_BYTES  4096 /* of every name of an output; writer_open() refuses longer ones */
#define SHARD_SINKS 3

/* Sizes and checksums (crc32c) of its files; numbers only, in the order of the journal's lines. */
struct written_shard {
    uint64_t number, records;
    uint64_t rec_bytes, rec_crc, idx_bytes, idx_crc, crc_bytes, crc_crc;
};

/* What is known of a set before its first shard. */
struct shard_shape {
    const struct imrec_pack_options *options;
    uint32_t classes;     /* labels are below it; 0: they are no classes */
    uint32_t label_count; /* of the record that has most; 0: not known before the first one */
};

struct shard_record {
    uint64_t id;
    const float *labels;
    uint32_t label_count;
    struct bytes path;  /* in messages */
    struct bytes bytes; /* as frame() or pixels() has made them */
    uint32_t crc;       /* crc32c of them, where frame() says one */
};

struct sink;
struct stop;

/* Zeroed: not open. It stays where it was opened: its kind keeps the address. */
struct shard_writer {
    const struct shard_kind *kind;
    void *state;                     /* the kind's own; NULL: not open */
    struct sink *sinks[SHARD_SINKS]; /* the shard, then what is written with it */
    uint32_t crc[SHARD_SINKS];       /* of their bytes, kept by the kind */
    uint64_t records;                /* put so far */
};

struct shard_kind {
    const char *format;         /* word of the option, in manifest and journal */
    const char *name, *file;    /* in messages: "CNTK's binary format", "CBF file" */
    const char *const *files;   /* suffixes of a shard, its own first; NULL at the end */
    const char *scratch;        /* suffix, after the shard's own, of a file that is kept until
                                   the set is complete; NULL: none is */
    const char *const *options; /* those that shape no other kind's sets; NULL: none */
    bool side_files;            /* .idx and .crc are next to a shard */
    bool bare;                  /* a record is the image, without labels and id; fields and mask
                                   are framed after it, in all records of a set or in none */
    bool equal_labels;          /* all records have as many */
    bool ids_from_list;         /* readers take them from the .lst, by place */
    size_t state_bytes;
    /* What a worker does, in any thread, appended to *out: the record of an encoded image (bare),
     * and of what follows it there, if only of no byte; or of header, image, fields and mask; that
     * of pixels, NULL: there is none. */
    enum imrec_status (*frame)(struct bytes whole, struct buf *out, uint32_t *crc,
                               struct imrec_error *err);
    enum imrec_status (*pixels)(const struct imrec_image *image, struct buf *out,
                                struct imrec_error *err);
    /* Opens the sinks, with shard_open_sinks(), and fills w->state, which is zeroed. */
    enum imrec_status (*open)(struct shard_writer *w, const char *name,
                              const struct shard_shape *shape, const struct written_shard *from,
                              struct imrec_error *err);
    /* Prepares put() of the record, so that what was put before can be made durable. NULL: it
     * always can. */
    enum imrec_status (*room)(struct shard_writer *w, const struct shard_record *r,
                              struct imrec_error *err);
    enum imrec_status (*put)(struct shard_writer *w, const struct shard_record *r,
                             struct imrec_error *err);
    bool (*is_even)(const struct shard_writer *w);  /* NULL: always */
    uint64_t (*size)(const struct shard_writer *w); /* NULL: the bytes of the first sink */
    /* The last bytes of each sink. */
    enum imrec_status (*finish)(struct shard_writer *w, struct imrec_error *err);
    void (*close)(struct shard_writer *w); /* frees what the state holds; zeroed memory is fine */
};

/* `name` is the working name of the shard; from->records of it are there already. */
IMREC_NODISCARD enum imrec_status
shard_writer_open(struct shard_writer *w, const struct shard_kind *kind, const char *name,
                  const struct shard_shape *shape, const struct written_shard *from,
                  struct imrec_error *err);
/* Whether images of the set can have fields or masks. */
static inline bool shard_has_rest(const struct imrec_pack_options *o)
{
    return o->fields[0] != '\0' || o->columns[0] != '\0' || o->masks[0] != '\0';
}
/* For open(). */
IMREC_NODISCARD enum imrec_status shard_open_sinks(struct shard_writer *w, const char *name,
                                                   const struct written_shard *from,
                                                   struct imrec_error *err);
bool shard_writer_is_open(const struct shard_writer *w);
/* sink_stop_with() of every sink. */
void shard_writer_stop_with(struct shard_writer *w, const struct stop *stop);
IMREC_NODISCARD enum imrec_status
shard_writer_put(struct shard_writer *w, const struct shard_record *r, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
shard_writer_sync(struct shard_writer *w, struct imrec_error *err);
/* All that was put can be made durable now. */
bool shard_writer_is_even(const struct shard_writer *w);
uint64_t shard_writer_size(const struct shard_writer *w); /* bytes, were it finished now */
/* What it holds now; out->number is left alone. */
void shard_writer_sums(const struct shard_writer *w, struct written_shard *out);
/* Durable under the temporary names, and closed, also on failure. */
IMREC_NODISCARD enum imrec_status
shard_writer_finish(struct shard_writer *w, struct written_shard *out, struct imrec_error *err);
void shard_writer_leave(struct shard_writer *w); /* keeps the files; zeroed memory is fine */
#endif
