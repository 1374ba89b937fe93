/* im2rec/reshape/set_out.h - a set being written without a journal: from the first record to the
 * manifest, or nothing. */
#ifndef IMREC_IM2REC_RESHAPE_SET_OUT_H
#define IMREC_IM2REC_RESHAPE_SET_OUT_H

#include "formats/set/manifest.h"
#include "im2rec/set/set_files.h"

struct set_out {
    struct imrec_pack_options o; /* shards and shard_size; a default else */
    struct set_files files;
    struct lock *lock; /* NULL: the caller has one, of the set that is replaced */
    struct shard_writer shard;
    const struct stop *stop;
    struct sink *list;
    struct buf text, framed;
    struct written_shard *done; /* finished shards */
    uint64_t done_count, done_room;
    uint64_t records, expected, label_width;
    uint32_t list_crc;
    bool replaces; /* the set of this name is one of the sources */
    bool begun;    /* files under temporary names are ours, and useless if it fails */
};

struct set_out_options {
    int64_t shards, shard_size;
    uint64_t expected; /* records; shards are cut by it */
    bool numbered;     /* also where there is one shard: set_out_end_shard() is called */
    bool force, replaces;
    const struct stop *stop; /* of the shards: sink_stop_with() */
};

/* Refuses outputs that exist, without force; an interrupted packing run of that name, too. */
IMREC_NODISCARD enum imrec_status set_out_open(const char *path, const struct set_out_options *o,
                                               struct set_out *out, struct imrec_error *err);
struct set_out_record {
    uint64_t id;
    const float *labels;
    uint32_t label_count;
    const char *path;    /* for the list */
    struct bytes record; /* header, labels, image; not looked at where `framed` is given */
    struct bytes framed; /* the record as stored in its shard, to be copied with ... */
    uint32_t crc;        /* ... its checksum there; no bytes: it is framed again */
};
IMREC_NODISCARD enum imrec_status
set_out_put(struct set_out *s, const struct set_out_record *r, struct imrec_error *err);
/* The next record begins another shard. */
IMREC_NODISCARD enum imrec_status set_out_end_shard(struct set_out *s, struct imrec_error *err);
struct set_out_card { /* what else the manifest says */
    const struct manifest_option *options;
    size_t option_count;
    uint64_t skipped;
};
/* Makes the set real. classes: NULL, there are none. Not to be called twice. */
IMREC_NODISCARD enum imrec_status
set_out_commit(struct set_out *s, const struct class_list *classes, const struct set_out_card *card,
               struct imrec_error *err);
/* After commit only memory; before it, also what was written. Zeroed memory is fine. */
void set_out_close(struct set_out *s);
#endif
