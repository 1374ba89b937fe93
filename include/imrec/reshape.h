/* imrec/reshape.h - packed sets into other sets, records as they are: merged, cut into shards,
 * sampled, relabelled. No image is decoded or encoded. */
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
    const char *labels; /* a .lst whose labels replace those of the records, by id; NULL: none */
    enum imrec_unlisted unlisted; /* a record without a line: an error, kept as it is, left out */
    double fraction;              /* of the records, 0..1; below 0: as `sample` says */
    uint64_t sample;              /* so many records at random, in their order; 0: all */
    bool rest;                    /* those that fraction or sample would leave out */
    int64_t seed;
    bool renumber;       /* ids 0, 1, 2, ... in the order of the records; else two records of one
                            id are an error */
    const char *classes; /* class list of the new set; NULL: that of the sources, "": none */
    int64_t shards;      /* cut into so many, by number of records; 0: one */
    int64_t shard_size;  /* begin another shard at so many bytes; 0: no */
    bool force;          /* replace outputs that exist */
    imrec_progress_fn *progress;
    void *user;                   /* of progress and finding */
    enum imrec_on_error on_error; /* damage in a source: the end, or left out and told */
    imrec_finding_fn *finding;    /* what was left out, in order; may be NULL */
};

struct imrec_reshape_result {
    uint64_t read, written; /* records */
    uint64_t shards, bytes; /* written */
    uint64_t relabelled;    /* records */
    uint64_t unlisted;      /* records without a line, kept or left out */
    uint64_t unused;        /* lines of `labels` without a record */
    uint64_t left_out;      /* records and damaged ranges, with on_error=skip */
    uint64_t unchecked;     /* records read that came without checksums */
    uint64_t metadata;      /* headers and identities (enum imrec_metadata), not in `read`: the new
                               set has none, for the keys that they name are others there */
};

IMREC_API void imrec_reshape_options_init(struct imrec_reshape_options *o); /* defaults */

/* Reads the records of all `uris`, in this order, and writes the set `out` ("OUT.rec"): shards,
 * indexes, checksums, list, class list where there is one, manifest; they get their names when
 * all is written. Images in CBF files become records. Every record is compared with the checksum
 * beside its shard, as imrec_checked_next() says, and takes it along where its bytes stay as they
 * are. Damage is IMREC_ERR_DATA, or with on_error=skip left out and told. Class lists that differ,
 * an output that is a source, a .crc that is broken and a shard without one that differs from its
 * manifest are errors; nothing is left behind then. So is an output that another call writes now:
 * IMREC_ERR_IO, sys_errno EBUSY. Headers and identities of insightface's files are left out, with a
 * warning. `command` stands in the manifest ("merge"). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_reshape(const char *const *uris, size_t count, const char *out, const char *command,
              const struct imrec_reshape_options *o, struct imrec_reshape_result *result,
              struct imrec_error *err);

/* Packs as imrec_pack(), and puts the new records behind those of the set task->out, which
 * exists. Ids of a folder go on behind the set's greatest one; those of a list must be new. The
 * set's class list holds for a folder and for annotations: another class is an error, with
 * new_classes it gets the next number; a missing one is none. The old set stays as it is until the
 * new one is whole. A set in numbered shards gets one more. The old set is compared with its
 * checksums before anything is packed: damage there is IMREC_ERR_DATA, whatever on_error says. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_append(const struct imrec_pack_task *task, const struct imrec_pack_options *options,
             struct imrec_pack_result *out, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
