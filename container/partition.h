/* container/partition.h - the shards of a data set, the partition, and its units.
 *
 * A unit is what the plan moves: without an index a cell of the fixed grid (clipped to the
 * partition; its records are those whose head lies in it), with one a record. */
#ifndef IMREC_CONTAINER_PARTITION_H
#define IMREC_CONTAINER_PARTITION_H

#include "container/shard_list.h"
#include "imrec/error.h"
#include "storage/source.h"

struct shard {
    char *uri;
    struct source *source;
    uint64_t size, begin; /* begin: in the concatenation of all shards */
    uint64_t first;       /* the record that its index lists first; 0 without one */
};

struct indexed_record { /* 24 bytes: HOUSE's sum counts them */
    uint64_t offset, key;
    uint32_t shard;
    uint32_t bytes; /* CBF: of the image; plugged: of the record; else 0, or where metadata
                       follows the bytes up to it */
};

struct cbf_images;
struct plugged;
struct metadata_record;
struct shard_sums;

/* What is opened: a set, of which one without any record is an error; a shard of a set that was
 * looked at before, of which an empty one is a warning; files as they are. */
enum split_look { SPLIT_LOOK_SET, SPLIT_LOOK_SHARD, SPLIT_LOOK_FILE };

struct split_options {
    const char *path_imgrec;
    const char *path_imgidx; /* one element a shard; NULL, "" or "none": cells; "auto": what is
                                beside the shards */
    uint64_t num_parts, part_index;
    uint64_t cell_bytes; /* grid of the cells, per shard; a multiple of 4 */
    bool keep_in_memory, drop_behind;
    uint32_t label_width;  /* CBF: labels of each image to keep; 0: as many as there are */
    bool no_labels;        /* CBF: none */
    const char *source;    /* that is plugged in; NULL or "": none */
    bool shifted;          /* records that begin on any byte are looked for, too: repair has them */
    bool verify_checksums; /* with the .crc beside every shard: set_sums.h */
    enum split_look look;
    enum shard_look shards; /* with SPLIT_LOOK_SET: what missing shards are */
};

struct split {
    struct shard *shards;
    uint32_t shard_count;
    uint64_t total_bytes;
    uint64_t begin, end;            /* the partition: heads in [begin, end) of the concatenation */
    struct indexed_record *records; /* of the partition in (shard, offset) order; NULL: no index */
    uint64_t unit_count;            /* cells or records of the partition */
    struct split_options options;   /* its texts are gone after split_open() */
    uint64_t *cell_base;            /* shard_count + 1: number of each shard's first cell */
    uint64_t record_total;          /* with an index: of all partitions */
    uint64_t index_hash;            /* of its keys and offsets, 0 without one */
    struct cbf_images *cbf;         /* the shards are CBF files: cbf_images.h; NULL: they are not */
    struct plugged *plugged;        /* or files of a user's format: plugged.h */
    char *index;                    /* of the first shard; NULL: the order is not an index's */
    bool index_found;               /* by path_imgidx=auto */
    char *index_missing; /* by that: the first that is not there, where others are, or NULL */
    struct imrec_error index_doubt;   /* why the index cannot be that of all records; OK: it can */
    struct metadata_record *metadata; /* records that are no samples: metadata.h */
    uint64_t metadata_count;
    struct shard_sums *sums; /* of each shard, with verify_checksums; else NULL */
};

struct split_range { /* bytes [begin, end) of a shard */
    uint32_t shard;
    uint64_t begin, end;
};

IMREC_NODISCARD enum imrec_status
split_open(const struct split_options *o, struct split *out, struct imrec_error *err);
void split_close(struct split *s); /* zeroed memory is fine */
/* The bytes of a unit: of the cell, or of a record up to the next one in the index. Pure. */
struct split_range split_unit(const struct split *s, uint64_t unit);
/* What of bytes [begin, end) of the concatenation is in a shard, where heads can stand. Pure. */
struct split_range split_clip(const struct split *s, uint32_t shard, uint64_t begin, uint64_t end);
/* Where partition `index` begins: a byte of the concatenation, or a record's number. Pure. */
uint64_t split_part_begin(const struct split *s, uint64_t index);
/* Nominal bytes of a unit: of the cell, or up to the next record. Pure. */
uint64_t split_unit_bytes(const struct split *s, uint64_t unit);
/* Number of records in each of num_parts partitions: from the index, a manifest beside the
 * shards, or one scan of the record heads. counts[num_parts] is the caller's. */
IMREC_NODISCARD enum imrec_status
split_count(const struct split *s, uint64_t *counts, struct imrec_error *err);
/* Changes whenever a shard's name order, size or index does: for position fingerprints. */
uint64_t split_fingerprint(const struct split *s);
uint64_t split_memory(const struct split *s); /* bytes held: index, kept records */
#endif
