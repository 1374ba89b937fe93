/* container/container.h - the open set: its shards, its partition and the records in it, and the
 * door to what kind of file they are.
 *
 * A kind is one constant struct container_kind, chosen when the set is opened: nobody else asks
 * which one it is. A unit is what order and loader move: a record where the kind, or an index,
 * lists them in a table; else a cell of a fixed grid (clipped to the partition; its records are
 * those whose head lies in it). */
#ifndef IMREC_CONTAINER_CONTAINER_H
#define IMREC_CONTAINER_CONTAINER_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/image.h"
#include "base/stop.h"
#include "container/shard_list.h"
#include "container/shards/index_lookup.h"
#include "formats/record_field.h"
#include "imrec/error.h"
#include "imrec/iter_params.h"
#include "storage/source.h"

#include <stdatomic.h>

struct shard {
    char *uri;
    struct source *source;
    uint64_t size, begin; /* begin: in the concatenation of all shards */
    uint64_t first;       /* the record that its index lists first; 0 without one */
    char *complete;       /* the index that lists its records without a gap; NULL: none does */
};

struct indexed_record {   /* 24 bytes: HOUSE's sum counts them */
    uint64_t offset, key; /* offset first: they are sorted by it */
    uint32_t shard;
    uint32_t bytes; /* CBF: of the image; plugged: of the record; else 0, or where metadata
                       follows the bytes up to it */
};

struct unit_range { /* bytes [begin, end) of a shard */
    uint32_t shard;
    uint64_t begin, end;
};

struct record_ref {
    struct bytes bytes; /* the record, joined; n = 0 and failed: a lost record of an index */
    struct bytes rest;  /* what is of it in another place; n = 0: nothing, or it is not read */
    uint64_t offset;    /* of its head in the shard */
    uint64_t key;       /* out of the index; of records that are walked id_in_shard(); else 0 */
    uint64_t unit;      /* with an index: of the partition */
    uint32_t shard;
    bool lost;          /* why: loader_lost_reason() */
    atomic_bool failed; /* who holds the window notes what can be made of no sweep; else false */
};

union list_label;

/* What parse() finds in a record. Views of the record or of the caller's room. */
struct record {
    uint64_t id, id2;                  /* id is set first: also before an error */
    uint32_t label_count;              /* of the record; `labels` may hold the first ones only */
    struct bytes labels;               /* little-endian floats, any alignment */
    const union list_label *typed;     /* as a source wrote them; NULL: there are only `labels` */
    struct bytes image, mask;          /* compressed; n = 0: none */
    struct planes pixels;              /* of a decoded image; p NULL: none. Without height and width
                                        * where the container has value_count */
    const struct record_field *fields; /* field_count: all other parts, in their order */
    uint32_t field_count;
};

/* The label at `i`, below label_count and what `labels` holds. */
float record_label(const struct record *r, uint32_t i);

/* What is looked at; the id always. */
enum record_parts {
    RECORD_LABELS = 1,
    RECORD_IMAGE = 2,
    RECORD_MASK = 4,
    RECORD_FIELDS = 8,
    RECORD_PARTS = 15
};

/* A worker's memory for what a record is made into. */
struct parse_room {
    uint8_t *p;
    size_t n, limit;
    float *labels;
    union list_label *typed; /* NULL: labels are float32 */
    enum imrec_label_dtype type;
    uint32_t label_room;
    struct record_field *fields; /* of the record parsed last */
    uint64_t field_room;
};

/* A walk over records of which each is found from the one before it. */
struct record_walk {
    struct source *source; /* of the shard's bytes, all of them */
    uint64_t size;
    bool far;         /* a read takes a round trip: few are made */
    uint64_t at, end; /* where a record can begin; the walk ends with the last head before `end` */
};

struct container;
struct shard_found;
struct imrec_fetched;

struct container_kind {
    const char *name;   /* in messages: "CBF file" */
    const char *record; /* likewise "record", unless describe() names it */
    const char *suffix; /* ".cbf"; a folder is expanded to its files of the first kind that has any.
                           NULL: not by suffix */
    const char *other_suffix; /* where none has that one; NULL: there is no other */
    uint32_t align;           /* records begin at multiples of it */
    bool own_index;           /* records are always listed; path_imgidx is refused */
    bool side_files; /* .idx and .crc can be next to a shard, records are framed, repair works */
    bool masks;      /* records can have them */
    bool fields;     /* likewise */
    bool rooms;      /* parse() writes into its room */
    bool calls_user; /* parse() calls functions of the user's */
    bool named;      /* image=, label= and mask= say which part of a sample is what */
    bool examples;   /* records are tf.train.Examples */
    bool own_sums;   /* open() compares each record with a checksum that is next to it */
    bool apart;      /* of each record the bytes are read by themselves: it is a file */
    bool extents;    /* an index can say where records are, which are found by walking else: */
    uint32_t least;  /* bytes that each has at least */
    /* By the first bytes of a shard, 512 or all of a shorter one. NULL: never, it is asked for. */
    bool (*recognize)(struct bytes first);
    /* The same where the suffix of its name is the kind's: a file without records. NULL: never. */
    bool (*recognize_empty)(struct bytes first);
    /* Of a shard whose first bytes are damaged: where the first head of a record in b is, of `left`
     * bytes up to the shard's end; b.n: there is none. NULL: nobody looks for any. */
    size_t (*find)(struct bytes b, uint64_t left);
    /* Opens a shard's source. NULL: source_open(). Any thread, of each shard one. */
    enum imrec_status (*open_shard)(struct container *c, uint32_t shard, struct imrec_error *err);
    /* Fills c->records with this partition's, or leaves it NULL: cells. Also index_hash for the
     * fingerprint, and value_count and element where images are stored decoded. What is wrong with
     * a part of a shard is a loss, no failure. */
    enum imrec_status (*list)(struct container *c, const struct shard_list *l,
                              struct imrec_error *err);
    /* Of a kind without a mark of where records begin: appends those, and the losses, whose heads
     * are in [w->at, w->end), and moves w->at to the next head. Any thread. NULL: there is a mark,
     * or a table. */
    enum imrec_status (*walk)(const struct container *c, struct record_walk *w,
                              struct shard_found *out, struct imrec_error *err);
    /* Bytes of a record. Pure, as all below. record_table_extent(), where they are all it has. */
    struct unit_range (*extent)(const struct container *c, uint64_t unit);
    /* Why the record was lost when it was listed; NULL: it was not. NULL: none ever is. */
    const struct imrec_error *(*lost)(const struct container *c, uint64_t unit);
    /* Bytes of the shard that are of a record, too, and are read where container_options.rest
     * asks for it; none: begin is 0. Of neighbours they are neighbours. NULL: there never are. */
    struct unit_range (*rest)(const struct container *c, uint64_t unit);
    /* What those at p, all of them, hold. */
    enum imrec_status (*open_rest)(const struct container *c, uint64_t unit, const uint8_t *p,
                                   struct bytes *out, struct imrec_error *err);
    /* The record at p[0..n), the begin of its place, which is that of a unit: *out is it, joined in
     * place, *used its bytes in the shard, also with an error (0: not known). IMREC_END: *used
     * bytes are needed. */
    enum imrec_status (*open)(const struct container *c, const struct record_place *at, uint8_t *p,
                              size_t n, struct bytes *out, uint64_t *used, struct imrec_error *err);
    enum imrec_status (*parse)(const struct container *c, const struct record_ref *r,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err);
    /* What the record is known by in its shard: identity, with the shard's number. NULL: its
     * offset. */
    uint64_t (*number)(const struct container *c, const struct record_ref *r);
    /* "sequence 5, byte 17"; why: its error. Returns the byte to name. NULL: its head's. */
    uint64_t (*describe)(const struct container *c, const struct record_ref *r,
                         const struct imrec_error *why, char text[96]);
    /* Records of each partition, of cells. NULL: always a table. */
    enum imrec_status (*count)(const struct container *c, uint64_t *counts,
                               struct imrec_error *err);
    /* Labels of the record that has most; may_read: also by reading the shards. NULL: label_count.
     */
    enum imrec_status (*widest_label)(const struct container *c, bool may_read, uint32_t *out,
                                      struct imrec_error *err);
    /* The first label of a listed record, which is known without reading it; false: it has none.
     * NULL: it is not known. */
    bool (*first_label)(const struct container *c, uint64_t unit, float *label);
    /* Why labels cannot be boxes, "they ..."; NULL: they can. NULL: always. */
    const char *(*refuse_boxes)(const struct container *c);
    /* Appends the file of an image that is stored decoded; nothing where that is unknown. NULL:
     * never. */
    enum imrec_status (*as_file)(const struct container *c, const struct record *r, struct buf *out,
                                 struct imrec_error *err);
    /* Of records that are asked for by number and are no bytes of a shard:
     * container_open_numbered(). Fetches records `numbers`, of the whole set; *hold, initially
     * NULL, goes to let_go() when they are of no use any more, also after an error. Any thread.
     * NULL: they are bytes. */
    enum imrec_status (*fetch)(const struct container *c, const uint64_t *numbers, uint32_t n,
                               struct imrec_fetched *out, void **hold, struct imrec_error *err);
    void (*let_go)(const struct container *c, void *hold);
    void (*cancel)(const struct container *c);                     /* what fetches should end */
    uint64_t (*block)(const struct container *c, uint64_t number); /* what it is near to */
    uint64_t (*memory)(const struct container *c);                 /* of its state; NULL: 0 */
    void (*close)(struct container *c); /* frees c->state; NULL: there is none */
};

struct metadata_record;
struct shard_sums;

/* Of kinds that walk, without an index: whether all shards are walked when the set is opened, so
 * that records are listed; or the units are cells, and a partition has whole shards. */
enum container_listing {
    LISTING_ALL,
    LISTING_SMALL, /* of sets over LIST_MOST_BYTES in LIST_MOST_SHARDS or more they are cells */
    LISTING_NONE
};
#define LIST_MOST_BYTES  ((uint64_t)4 << 30)
#define LIST_MOST_SHARDS 16u

/* What is opened: a set, of which one without any record is an error; a shard of a set that was
 * looked at before, of which an empty one is a warning; files as they are. */
enum container_look { CONTAINER_LOOK_SET, CONTAINER_LOOK_SHARD, CONTAINER_LOOK_FILE };

struct container_options {
    const char *path_imgrec;
    const char *path_imgidx; /* one element a shard; NULL, "" or "none": cells; "auto": the files
                                next to the shards */
    uint64_t num_parts, part_index;
    uint64_t cell_bytes; /* grid of the cells, per shard; a multiple of 4 */
    uint64_t table_most; /* records of a partition in memory: with binary indexes more are looked
                            up (of stores, TABLE_FAR times as many are in memory); 0: all */
    bool keep_in_memory, drop_behind;
    uint32_t label_width; /* CBF: labels of each image to keep; 0: as many as there are */
    bool no_labels;       /* CBF: none */
    bool rest;            /* CBF: fields and masks are wanted */
    enum container_listing listing;
    bool even; /* LISTING_SMALL: cells only where partitions have about as many bytes each */
    const char *source;               /* of a plugin; NULL or "": none */
    enum imrec_container container;   /* of what kind the files are; AUTO: by their first bytes */
    const char *image, *label, *mask; /* of kinds that are `named`; NULL or "": the kind's own */
    const char *path_root; /* of a list: the folder of its files; NULL or "": the current one */
    bool only_images;      /* samples that lack the part which `image` names are not listed */
    int64_t label_offset;  /* of dataset/'s readers, which add it to labels; others add their own */
    bool shifted;          /* records that begin on any byte are looked for, too: repair has them */
    bool verify_checksums; /* with the .crc next to every shard: set_sums.h */
    enum container_look look;
    enum shard_look shards; /* with CONTAINER_LOOK_SET: what missing shards are */
};

/* Of more shards that a store has listed, each is opened when it is read first, and what would take
 * a request of each is asked of the first one: what kind they are (each is checked when it is read)
 * and whether there are records of metadata. */
#define CONTAINER_OPEN_MOST 64u

#define TABLE_FAR 16u

struct kind_check;

struct container {
    const struct container_kind *kind;
    void *state; /* the kind's own */
    struct shard *shards;
    uint32_t shard_count;
    struct kind_check *late; /* CONTAINER_OPEN_MOST; NULL: all shards are open */
    uint64_t total_bytes;
    uint64_t begin, end;            /* the partition: heads in [begin, end) of the concatenation */
    struct indexed_record *records; /* of the partition in (shard, offset) order; NULL: cells, or */
    struct index_lookup *lookup;    /* they are looked up: options.table_most */
    uint64_t unit_count;            /* cells or records of the partition */
    struct container_options options; /* its texts are gone after container_open() */
    uint32_t at_once, threads;        /* of records that are fetched: of a call, calls at a time */
    uint64_t *cell_base;              /* shard_count + 1: number of each shard's first cell */
    uint64_t record_total;            /* with a table: of all partitions */
    uint64_t index_hash;              /* of its keys and offsets, 0 without one */
    uint32_t value_count;             /* of an image that is stored decoded; 0: images are files */
    bool doubles;                     /* these values are; else floats */
    uint32_t label_count;             /* of a record at most; with no widest_label() */
    /* RecordIO's, for callers that need an index: */
    char *index;         /* of the first shard; NULL: the order is not an index's */
    bool index_found;    /* by path_imgidx=auto */
    bool index_cut;      /* no other entries than the partition's were read */
    char *index_missing; /* by that: the first one missing, where others exist, or NULL */
    struct imrec_error index_doubt;   /* why the index cannot be that of all records; OK: it can */
    struct metadata_record *metadata; /* records that are no samples: metadata.h */
    uint64_t metadata_count;
    struct shard_sums *sums; /* of each shard, with verify_checksums; else NULL */
    struct stop stop;        /* of counting: container_cancel() */
};

IMREC_NODISCARD enum imrec_status
container_open(const struct container_options *o, struct container *out, struct imrec_error *err);
/* Files of a kind that the caller has: their bytes are not looked at, a folder is all files in it,
 * and the units are cells, on kind->align. Of the kind only that, name and record are used. NULL:
 * as container_open(). */
IMREC_NODISCARD enum imrec_status container_open_as(const struct container_options *o,
                                                    const struct container_kind *kind,
                                                    struct container *out, struct imrec_error *err);
/* Records that their kind fetches: `count` of them, numbered from 0, as one shard of that name
 * whose bytes nobody can read. */
struct numbered {
    const struct container_kind *kind;
    void *state; /* of the kind; owned from here on, also on failure */
    const char *name;
    uint64_t count, record_bytes; /* of one, on average */
    uint64_t hash;                /* for the fingerprint */
    uint32_t at_once, threads;
};
IMREC_NODISCARD enum imrec_status
container_open_numbered(const struct container_options *o, const struct numbered *n,
                        struct container *out, struct imrec_error *err);
void container_close(struct container *c); /* zeroed memory is fine */
/* Whether its records are fetched; else they are bytes of shards. */
static inline bool container_is_fetched(const struct container *c)
{
    return c->kind != NULL && c->kind->fetch != NULL;
}
/* Whether its units are records; else they are cells. */
static inline bool container_is_listed(const struct container *c)
{
    return c->records != NULL || c->lookup != NULL || container_is_fetched(c);
}
/* Where records are listed: the places of units of the partition, p[0..n), whose numbers ascend.
 * Fails where they are looked up and an index cannot be read; any thread. */
IMREC_NODISCARD enum imrec_status container_locate(const struct container *c,
                                                   struct record_place *p, size_t n,
                                                   struct imrec_error *err);
/* Which cell of that size the record is in, or which block of records that are fetched. */
uint64_t
container_cell_of(const struct container *c, const struct record_place *p, uint64_t cell_bytes);
/* Reads that take time, and counting, end: its files are of no use. */
void container_cancel(struct container *c);
/* The bytes of a unit: of the cell, or of the record up to the next one in an index, unless they
 * are looked up. Pure. */
struct unit_range container_unit(const struct container *c, uint64_t unit);
/* "record at byte 17"; why: its error. Returns the byte to name. */
uint64_t container_describe(const struct container *c, const struct record_ref *r,
                            const struct imrec_error *why, char text[96]);
/* The identity of a record in its shard. */
uint64_t container_number(const struct container *c, const struct record_ref *r);
/* The id of record `number` of a shard whose records are not listed: those before are not counted.
 */
static inline uint64_t id_in_shard(uint32_t shard, uint64_t number)
{
    return (uint64_t)shard << 32 | (number & UINT32_MAX);
}
/* Number of records in each of num_parts partitions: from the table, a manifest next to the
 * shards, or one scan of the record heads. counts[num_parts] is the caller's. */
IMREC_NODISCARD enum imrec_status
container_count(const struct container *c, uint64_t *counts, struct imrec_error *err);
/* Changes whenever a shard's name order, size or index does: for position fingerprints. */
uint64_t container_fingerprint(const struct container *c);
uint64_t container_memory(const struct container *c);       /* bytes held: table, kept records */
uint64_t container_table_memory(const struct container *c); /* of its records' places */
/* ... of the kind's own state alone. */
uint64_t container_state_memory(const struct container *c);

IMREC_NODISCARD enum imrec_status parse_room_init(struct parse_room *room, uint32_t labels,
                                                  enum imrec_label_dtype type, int64_t max_pixels,
                                                  struct imrec_error *err);
void parse_room_free(struct parse_room *room); /* zeroed memory is fine */
#endif
