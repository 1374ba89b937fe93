/* imrec/reshape.h - makes new sets from packed ones: merged, cut into shards, sampled, relabelled.
 * Records are copied; no image is decoded or encoded, unless tiles are asked for. */
#ifndef IMREC_RESHAPE_H
#define IMREC_RESHAPE_H

#include "imrec/dataset.h"
#include "imrec/packer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum imrec_unlisted { IMREC_UNLISTED_STOP, IMREC_UNLISTED_KEEP, IMREC_UNLISTED_DROP };

struct imrec_reshape_options {
    size_t struct_size;
    const char *labels; /* a .lst whose labels replace those of the records, by id; or NULL */
    enum imrec_unlisted
        unlisted;    /* a record without a line is an error, kept as it is, or dropped */
    double fraction; /* of the records, 0..1; below 0: `sample` decides */
    uint64_t sample; /* number of records, at random, in their order; 0: all */
    bool rest;       /* take the records that fraction or sample would drop */
    int64_t seed;
    bool renumber;       /* ids 0, 1, 2, ... in the order of the records; otherwise two records
                            of one id are an error */
    const char *classes; /* class list of the new set; NULL: that of the sources, "": none */
    int64_t shards;      /* number of shards, cut by number of records; 0: one */
    int64_t shard_size;  /* maximum bytes of a shard; 0: no limit */
    bool force;          /* replace outputs that exist */
    imrec_progress_fn *progress;
    void *user;                                /* of progress and finding */
    enum imrec_on_error on_error;              /* damage in a source: stop, or skip and report */
    imrec_finding_fn *finding;                 /* reports what was skipped, in order; may be NULL */
    const struct imrec_reader_options *reader; /* of all sources; NULL: the defaults. Labels of
                                                  `labels` are taken without label_offset */
    bool tile; /* JPEGs get restart markers at the end of each row of blocks, in one sequential
                  scan with optimal tables: coefficients, pixels and markers stay the same.
                  What is no JPEG, is arithmetic, has defects, or takes more than 896 MiB of
                  memory is copied. Several shards stay several, unless shards or shard_size
                  say otherwise */
    int64_t threads;    /* that do it; 0: every CPU this process may use */
    bool shared_tables; /* with tile: all these JPEGs have the same Huffman tables, made of a sample
                           of the records, which are read once more for it: about 1 % more bytes,
                           which readers decode faster */
};

struct imrec_reshape_result {
    uint64_t read, written; /* records */
    uint64_t shards, bytes; /* written */
    uint64_t relabelled;    /* records */
    uint64_t unlisted;      /* records without a line, kept or dropped */
    uint64_t unused;        /* lines of `labels` without a record */
    uint64_t left_out;      /* records and damaged ranges, with on_error=skip */
    uint64_t unchecked;     /* records read that came without checksums */
    uint64_t metadata;      /* headers and identities (enum imrec_metadata), not in `read`: the new
                               set has none, because the keys that they name change */
    uint64_t tiled;         /* records whose image was coded again */
};

IMREC_API void imrec_reshape_options_init_sized(struct imrec_reshape_options *o, size_t size);
static inline void imrec_reshape_options_init(struct imrec_reshape_options *o)
{
    imrec_reshape_options_init_sized(o, sizeof(*o));
}

/* Reads the records of all `uris`, in this order, and writes the set `out` ("OUT.rec"): shards,
 * indexes, checksums, list, class list if there is one, manifest. They get their names when all is
 * written. Images in CBF files become records. Every record is compared with its checksum, like
 * imrec_checked_next() does, and keeps it if its bytes stay unchanged. Damage is IMREC_ERR_DATA;
 * with on_error=skip it is skipped and reported.
 *
 * These are errors that leave no file: class lists that differ, an output that is a source, a
 * broken .crc, a shard without one that differs from its manifest, and an output that another call
 * is writing (IMREC_ERR_IO, sys_errno EBUSY). Headers and identities of insightface's files are
 * dropped, with a warning. `command` goes into the manifest ("merge"). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reshape(const char *const *uris, size_t count, const char *out, const char *command,
              const struct imrec_reshape_options *o, struct imrec_reshape_result *result,
              struct imrec_error *err);

/* Packs like imrec_pack(), and appends the new records to the existing set task->out. Ids of a
 * folder continue after the set's largest one; those of a list must be new. The set's class list
 * applies to a folder and to annotations: another class is an error, or with new_classes gets the
 * next number; a missing class is allowed. The old set stays unchanged until the new one is
 * complete. A set in numbered shards gets one more. The old set is compared with its checksums
 * before anything is packed: damage there is IMREC_ERR_DATA, also with on_error=skip. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_append(const struct imrec_pack_task *task, const struct imrec_pack_options *options,
             struct imrec_pack_result *out, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
