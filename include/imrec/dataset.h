/* imrec/dataset.h - a data set as a whole: summary (card), finding, checking, repairing.
 *
 * `uri` is what path_imgrec of the iterator takes: a file, "a.rec;b.rec", a directory (its
 * *.rec), a glob or a manifest (NAME.manifest.json: the shards that it lists). Files next to a
 * shard are found by its name: train.rec has train.idx, train.crc, train.lst, train.classes.txt and
 * train.manifest.json. A numbered shard such as train-00003-of-00010.rec has its own .idx and .crc
 * and shares the set's train.lst and the others. All of these files are optional. */
#ifndef IMREC_DATASET_H
#define IMREC_DATASET_H

#include "imrec/reader_options.h"
#include "imrec/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shards ------------------------------------------------------------------------------ */

/* Lists the shards of `uri`, in order, as one text that every `uri` here takes: "a.rec;b.rec".
 * Shards that a directory, glob or manifest lacks, according to manifests and names ("-of-00004"),
 * are IMREC_ERR_IO with sys_errno ENOENT. With allow_missing the existing ones are listed, for
 * functions without that option. Free *list with imrec_shards_free(). A name that contains ';' is
 * IMREC_ERR_ARGUMENT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_shards_expand(const char *uri, bool allow_missing, char **list, struct imrec_error *err);
/* With options, of which container says which files of a directory are meant. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_shards_expand_with(const char *uri, const struct imrec_reader_options *o, bool allow_missing,
                         char **list, struct imrec_error *err);
IMREC_API void imrec_shards_free(char *list); /* NULL is allowed */

/* ---- class names ------------------------------------------------------------------------- */

struct imrec_classes; /* the class list of a data set; read only, any thread */

/* Opens the class list; empty for a data set without one. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_classes_open(const char *uri, struct imrec_classes **out, struct imrec_error *err);
/* With options, as imrec_shards_expand_with(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_classes_open_with(const char *uri, const struct imrec_reader_options *o,
                        struct imrec_classes **out, struct imrec_error *err);
/* Returns the name of class `label`, or NULL if it has none. Valid as long as *c. */
IMREC_API const char *imrec_classes_name(const struct imrec_classes *c, float label);
IMREC_API uint64_t imrec_classes_count(const struct imrec_classes *c);
IMREC_API void imrec_classes_close(struct imrec_classes *c); /* NULL is allowed */

/* ---- names of images ------------------------------------------------------------------- */

struct imrec_names; /* the .lst of a data set; read only, any thread */

/* Opens the list; empty for a data set without one. Malformed lines are skipped with a warning. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_names_open(const char *uri, struct imrec_names **out, struct imrec_error *err);
/* With options, as imrec_shards_expand_with(). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_names_open_with(const char *uri, const struct imrec_reader_options *o,
                      struct imrec_names **out, struct imrec_error *err);
/* Returns the path that image `id` was packed from, as written in the list, or NULL if it has none.
 * Valid as long as *n. */
IMREC_API const char *imrec_names_find(const struct imrec_names *n, uint64_t id);
IMREC_API uint64_t imrec_names_count(const struct imrec_names *n);
IMREC_API void imrec_names_close(struct imrec_names *n); /* NULL is allowed */

/* ---- the card ---------------------------------------------------------------------------- */

struct imrec_range { /* of the values found; all 0 if there are none */
    uint64_t min, median, max;
};

struct imrec_label_count { /* records whose first label is `label` */
    float label;
    uint64_t records;
};

struct imrec_kind_count {      /* "jpeg" "progressive", "png" "", ... */
    const char *format, *kind; /* static text; "unknown": no decoder knows it */
    uint64_t records;
};

struct imrec_shard_card {
    char *uri;
    uint64_t bytes, records;
    bool indexed, checksummed; /* has an .idx, a .crc; CBF is its own index */
};

struct imrec_dataset_card {
    struct imrec_shard_card *shards; /* shard_count */
    uint64_t shard_count, bytes;
    uint64_t records;                 /* intact ones */
    uint64_t images;                  /* of these: with an image record header */
    uint64_t damaged_ranges;          /* ranges of shards without a readable record */
    uint64_t unreadable;              /* images whose header no decoder of this build reads */
    bool manifest;                    /* there is one next to the shards */
    struct imrec_label_count *labels; /* label_count, ascending */
    uint64_t label_count;
    bool labels_cut;                     /* more than IMREC_CARD_LABELS exist; none is listed */
    struct imrec_range labels_per_image; /* medians are exact to 1 in 512 */
    struct imrec_range image_bytes, width, height;
    struct imrec_kind_count kinds[24]; /* kind_count, most frequent first */
    uint32_t kind_count;
    uint64_t grey, cmyk, gzip, rotated; /* of images; rotated: not upright according to EXIF */
    uint64_t restarts;                  /* of images: JPEGs with restart markers */
    uint64_t masks;                     /* of images: those with a mask */
    uint64_t sounds;                    /* of images: those that are sounds, without a width */
    struct imrec_range channels, sample_rate, milliseconds; /* of sounds */
    uint64_t metadata;   /* of records: headers and identities (enum imrec_metadata), no images */
    uint64_t identities; /* of these */
    struct imrec_range images_per_identity;
    const char *source; /* what the shards are: "RecordIO shard", "CBF file", "tar archive" */
};
#define IMREC_CARD_LABELS 1000000u

/* Summarizes a data set: reads every record's head and image header once, in file order. Missing
 * shards, and a set without any record, are errors, as for the iterator. Free *out with
 * imrec_dataset_card_free(), which accepts zeroed and half-filled cards too. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_card(const char *uri, imrec_progress_fn *progress, void *user,
                   struct imrec_dataset_card *out, struct imrec_error *err);
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_card_with(const char *uri, const struct imrec_reader_options *o,
                        imrec_progress_fn *progress, void *user, struct imrec_dataset_card *out,
                        struct imrec_error *err);
IMREC_API void imrec_dataset_card_free(struct imrec_dataset_card *c);

/* ---- finding ------------------------------------------------------------------------------ */

/* Finds the beginning of the record with image id `id`: with the index if that has the id,
 * otherwise by a scan. Among several it finds the first. IMREC_ERR_ARGUMENT: no record has the id.
 */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_dataset_find(const char *uri, uint64_t id,
                                                               uint32_t *shard, uint64_t *offset,
                                                               struct imrec_error *err);
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_find_with(const char *uri, const struct imrec_reader_options *o, uint64_t id,
                        uint32_t *shard, uint64_t *offset, struct imrec_error *err);

/* ---- verifying ---------------------------------------------------------------------------- */

struct imrec_verify_options {
    size_t struct_size;
    bool structure_only;       /* decode no images */
    int64_t threads;           /* for decoding; 0 = every CPU this process may use */
    int64_t max_pixels;        /* larger images are findings */
    imrec_finding_fn *finding; /* called in file order, shard by shard; may be NULL */
    imrec_progress_fn *progress;
    void *user;                                /* of both */
    bool allow_missing;                        /* missing shards are a warning, not a finding */
    const struct imrec_reader_options *reader; /* NULL: the defaults */
};

struct imrec_verify_result {
    uint64_t records, images, bytes;
    uint64_t found[IMREC_FOUND_KINDS]; /* findings of each kind */
    uint64_t findings;                 /* their sum */
    uint64_t decoded;                  /* images that decode */
    uint64_t warnings;                 /* of these: repaired by the decoder */
    uint64_t checksums;                /* records compared with a checksum */
    uint64_t indexed;                  /* records compared with an index */
    uint64_t metadata;                 /* of records: headers and identities, no images */
};

IMREC_API void imrec_verify_options_init_sized(struct imrec_verify_options *o, size_t size);
static inline void imrec_verify_options_init(struct imrec_verify_options *o)
{
    imrec_verify_options_init_sized(o, sizeof(*o));
}

/* Checks a data set. IMREC_OK also with findings, which are the result; an error means that the set
 * could not be checked. The findings are the same for every number of threads. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_verify(const char *uri, const struct imrec_verify_options *o,
                     struct imrec_verify_result *out, struct imrec_error *err);

/* ---- comparing ---------------------------------------------------------------------------- */

struct imrec_same_options {
    size_t struct_size;
    int64_t threads; /* for decoding; 0 = every CPU this process may use */
    imrec_progress_fn *progress;
    void *user;
    const struct imrec_reader_options *reader; /* of both; NULL: the defaults */
};

struct imrec_same_result {
    uint64_t records;     /* equal, from the first on */
    uint64_t equal_bytes; /* of them: images of equal bytes, which are not decoded */
    uint64_t decoded;     /* of them: images of other bytes and equal pixels */
};

IMREC_API void imrec_same_options_init_sized(struct imrec_same_options *o, size_t size);
static inline void imrec_same_options_init(struct imrec_same_options *o)
{
    imrec_same_options_init_sized(o, sizeof(*o));
}

/* Compares two data sets: the same number of records, in the same order, with equal ids, labels,
 * masks, fields, sizes and orientations of images, and pixels as they are stored. Shards, checksums
 * and lists may differ. IMREC_ERR_DATA: the first difference, which the message names. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_same(const char *a, const char *b, const struct imrec_same_options *o,
                   struct imrec_same_result *out, struct imrec_error *err);

/* ---- reading with checks ------------------------------------------------------------------- */

struct imrec_record;
struct imrec_checked; /* opaque; one thread at a time */

/* Reads every record in file order and compares it with the checksums of its shard (.crc). A shard
 * without checksums is compared as a whole with its manifest before its first record. Without a
 * manifest its records are delivered as they are, and one warning is logged. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_checked_open(const char *uri, imrec_progress_fn *progress, void *user,
                   struct imrec_checked **out, struct imrec_error *err);
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_checked_open_with(const char *uri, const struct imrec_reader_options *o,
                        imrec_progress_fn *progress, void *user, struct imrec_checked **out,
                        struct imrec_error *err);
/* IMREC_OK: an intact image record, whose pointers are valid until the next call. IMREC_ERR_DATA:
 * imrec_checked_found() describes what is lost here, and the next call continues after it: a
 * damaged range, a record that differs from its checksum or has none, a checksum without a record,
 * or a record that is not an image record. IMREC_END: there are no more records. Other errors end
 * the reading: a broken .crc, or a shard without one that differs from its manifest, is
 * IMREC_ERR_CORRUPT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_checked_next(struct imrec_checked *c, struct imrec_record *out, struct imrec_error *err);
/* Describes the last IMREC_ERR_DATA; valid until the next call. The id is that of the index if the
 * shard has one with this place, since the record's own id may be damaged. */
IMREC_API const struct imrec_finding *imrec_checked_found(const struct imrec_checked *c);
/* Number of records delivered so far that could not be compared with anything. */
IMREC_API uint64_t imrec_checked_unchecked(const struct imrec_checked *c);
IMREC_API void imrec_checked_close(struct imrec_checked *c); /* NULL is allowed */

/* Compares all bytes of one shard, or CBF file, with the checksum of the file in the manifest next
 * to it. IMREC_ERR_CORRUPT: they differ. A file without a manifest, or one that the manifest does
 * not name, is accepted. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_compare(const char *shard, struct imrec_error *err);

/* ---- repairing and indexing --------------------------------------------------------------- */

enum imrec_keys {
    IMREC_KEYS_ID,      /* the key of a record is its image id, or the counter if it has none */
    IMREC_KEYS_COUNTER, /* 0, 1, 2, ... */
};

struct imrec_repair_options {
    size_t struct_size;
    enum imrec_keys keys;
    bool ignore_checksums;     /* keep records that differ from the .crc of their shard */
    bool decode;               /* also drop images that do not decode */
    bool force;                /* replace outputs that exist */
    imrec_finding_fn *finding; /* reports losses in file order, and after each shard the records
                                  that left nothing; may be NULL */
    imrec_progress_fn *progress;
    void *user;
    bool drop_unmatched; /* drop records without a checksum in the shard's .crc, even if they
                            decode */
};

struct imrec_repair_result {
    uint64_t kept, kept_bytes; /* records, and their bytes without frames */
    uint64_t
        dropped; /* readable records with other bytes than packed, or (decode) without an image */
    uint64_t damaged_ranges, lost_bytes;
    uint64_t unmatched; /* of kept: without a checksum, but they decode without a warning */
    uint64_t missing;   /* checksums that no readable record has */
    uint64_t metadata;  /* of kept: headers and identities; they name keys that are ids */
};

IMREC_API void imrec_repair_options_init_sized(struct imrec_repair_options *o, size_t size);
static inline void imrec_repair_options_init(struct imrec_repair_options *o)
{
    imrec_repair_options_init_sized(o, sizeof(*o));
}

/* Writes every intact record of `uri`, in order, to the one shard `path`, its .idx and its .crc,
 * which appear when all is written. Records are found on any byte, also after bytes that were
 * inserted or lost. A record is intact, wherever it is, if the .crc of its shard has a checksum for
 * its length and bytes; it keeps that checksum. A record in the place of an unmatched checksum of
 * its length has other bytes than packed, and is dropped. A record that cannot belong to any
 * checksum is kept if its image decodes without a warning. Without a .crc every readable record is
 * kept. IMREC_ERR_DATA: there is none. The class list of the shards is copied next to `path`,
 * unless they have different ones. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_repair(const char *uri, const char *path, const struct imrec_repair_options *o,
                     struct imrec_repair_result *out, struct imrec_error *err);

struct imrec_index_place;
struct imrec_index_options {
    size_t struct_size;
    enum imrec_keys keys;
    bool force;  /* replace an index that exists */
    bool binary; /* imrec_dataset_index_binary(), with `place` */
    struct imrec_index_place *place;
    const struct imrec_reader_options *reader; /* NULL: the defaults */
};

IMREC_API void imrec_index_options_init_sized(struct imrec_index_options *o, size_t size);
static inline void imrec_index_options_init(struct imrec_index_options *o)
{
    imrec_index_options_init_sized(o, sizeof(*o));
}

struct imrec_index_result {
    uint64_t records;
    uint64_t repeated;       /* keys that an earlier record also has */
    uint64_t damaged_ranges; /* skipped */
};
/* Writes the index of one shard to idx_path (NULL: next to it, with .idx instead of .rec). Of a tar
 * archive or a TFRecord file it is binary (docs/formats/idxb.md), with .idxb after the name; `keys`
 * has no meaning then, and damage is IMREC_ERR_CORRUPT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_index(const char *shard, const char *idx_path, enum imrec_keys keys, bool force,
                    struct imrec_index_result *out, struct imrec_error *err);
/* The place of a shard in its set: {0} before the first one. */
struct imrec_index_place {
    uint32_t number;
    uint64_t hash; /* over the records of the shards before it */
};
/* The same as a binary index, which is found before .idx: records of one width in blocks with
 * checksums, for sets of millions of records. idxb_path: NULL, or a name that ends in .idxb.
 * *place is moved on by a success, for the next shard in the order in which the set is read: with
 * the right place of every shard, a reader of one partition reads its part of the indexes only;
 * with other ones all of them, for the same order. NULL: {0}, of a set of one shard. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_index_binary(const char *shard, const char *idxb_path, enum imrec_keys keys,
                           bool force, struct imrec_index_place *place,
                           struct imrec_index_result *out, struct imrec_error *err);
/* Either of both. Of a tar archive or TFRecord file samples that lack the part which the reader's
 * `image` names are not indexed, so that a reader with this index does not see them (of a TFRecord
 * file all is read for that). A link in a tar is refused where `image` or `label` names it. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_index_with(const char *shard, const char *path, const struct imrec_index_options *o,
                         struct imrec_index_result *out, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
