/* imrec/dataset.h - a data set as a whole: its card, finding, checking, repairing.
 *
 * `uri` is what path_imgrec of the iterator takes: a file, "a.rec;b.rec", a directory (its
 * *.rec), a glob or a manifest (NAME.manifest.json: the shards that it lists). Files beside a shard
 * are found by its name: train.rec has train.idx, train.crc, train.lst, train.classes.txt and
 * train.manifest.json, a shard of several such as train-00003-of-00010.rec its own .idx and .crc
 * and the set's train.lst and so on. None of them is needed. */
#ifndef IMREC_DATASET_H
#define IMREC_DATASET_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a call is, for who waits: any number of times, one at a time. false ends the call with
 * IMREC_ERR_CANCELLED. May be NULL. */
struct imrec_progress {
    uint64_t records, bytes; /* done */
    uint64_t total_bytes;    /* of the shards */
};
typedef bool imrec_progress_fn(void *user, const struct imrec_progress *p);

/* ---- shards ------------------------------------------------------------------------------ */

/* The shards that `uri` means, in order, as one text that every `uri` here takes: "a.rec;b.rec".
 * Shards that a directory, glob or manifest lacks, going by manifests and names ("-of-00004"), are
 * IMREC_ERR_IO with sys_errno ENOENT; with allow_missing the others are given: for functions
 * without that option. *list is to be given back with imrec_shards_free(). A name that holds ';' is
 * IMREC_ERR_ARGUMENT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_shards_expand(const char *uri, bool allow_missing, char **list, struct imrec_error *err);
IMREC_API void imrec_shards_free(char *list); /* NULL is allowed */

/* ---- class names ------------------------------------------------------------------------- */

struct imrec_classes; /* the class list beside a data set; read only, any thread */

/* A data set without a class list gives an empty one. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_classes_open(const char *uri, struct imrec_classes **out, struct imrec_error *err);
/* The name of class `label`; NULL when it has none. Lives as long as *c. */
IMREC_API const char *imrec_classes_name(const struct imrec_classes *c, float label);
IMREC_API uint64_t imrec_classes_count(const struct imrec_classes *c);
IMREC_API void imrec_classes_close(struct imrec_classes *c); /* NULL is allowed */

/* ---- names of images ------------------------------------------------------------------- */

struct imrec_names; /* the .lst beside a data set; read only, any thread */

/* A data set without a list gives an empty one; so do lines that are none, with a warning. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_names_open(const char *uri, struct imrec_names **out, struct imrec_error *err);
/* The path that the image was packed from, as it stands in the list; NULL when it has none.
 * Lives as long as *n. */
IMREC_API const char *imrec_names_find(const struct imrec_names *n, uint64_t id);
IMREC_API uint64_t imrec_names_count(const struct imrec_names *n);
IMREC_API void imrec_names_close(struct imrec_names *n); /* NULL is allowed */

/* ---- the card ---------------------------------------------------------------------------- */

struct imrec_range { /* of what was met; all 0 when nothing was */
    uint64_t min, median, max;
};

struct imrec_label_count { /* of records whose first label is `label` */
    float label;
    uint64_t records;
};

struct imrec_kind_count {      /* "jpeg" "progressive", "png" "", ... */
    const char *format, *kind; /* static text; "unknown" for what no decoder knows */
    uint64_t records;
};

struct imrec_shard_card {
    char *uri;
    uint64_t bytes, records;
    bool indexed, checksummed; /* its .idx, its .crc stand beside it; CBF is its own index */
};

struct imrec_dataset_card {
    struct imrec_shard_card *shards; /* shard_count */
    uint64_t shard_count, bytes;
    uint64_t records;                 /* intact ones */
    uint64_t images;                  /* of these: with an image record header */
    uint64_t damaged_ranges;          /* of shards, in which no record is readable */
    uint64_t unreadable;              /* images whose header no decoder of this build reads */
    bool manifest;                    /* of the packer stands beside the shards */
    struct imrec_label_count *labels; /* label_count, ascending */
    uint64_t label_count;
    bool labels_cut;                     /* there are more than IMREC_CARD_LABELS; none is listed */
    struct imrec_range labels_per_image; /* medians are exact to 1 in 512 */
    struct imrec_range image_bytes, width, height;
    struct imrec_kind_count kinds[24]; /* kind_count, most frequent first */
    uint32_t kind_count;
    uint64_t grey, cmyk, gzip, rotated; /* of images; rotated: EXIF says not upright */
    uint64_t masks;                     /* of images: with a mask behind them */
    uint64_t sounds;                    /* of images: they are sounds, and have no width */
    struct imrec_range channels, sample_rate, milliseconds; /* of sounds */
    uint64_t metadata;   /* of records: headers and identities (enum imrec_metadata), no images */
    uint64_t identities; /* of these */
    struct imrec_range images_per_identity;
};
#define IMREC_CARD_LABELS 1000000u

/* Shards that are missing, and a set without any record, are errors, as for the iterator. Reads
 * every record's head and image header once, in file order. Free with imrec_dataset_card_free(),
 * also zeroed or half-filled ones. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_card(const char *uri, imrec_progress_fn *progress, void *user,
                   struct imrec_dataset_card *out, struct imrec_error *err);
IMREC_API void imrec_dataset_card_free(struct imrec_dataset_card *c);

/* ---- finding ------------------------------------------------------------------------------ */

/* Where the record with image id `id` begins: out of the index where it holds this id, else by
 * a scan. IMREC_ERR_ARGUMENT when no record has it. Of several the first. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_dataset_find(const char *uri, uint64_t id,
                                                               uint32_t *shard, uint64_t *offset,
                                                               struct imrec_error *err);

/* ---- verifying ---------------------------------------------------------------------------- */

enum imrec_finding_kind {
    IMREC_FOUND_DAMAGE,   /* bytes [begin, end) hold no readable record */
    IMREC_FOUND_CHECKSUM, /* the record at begin is not what was packed */
    IMREC_FOUND_INDEX,    /* .idx and shard disagree about the record at begin */
    IMREC_FOUND_RECORD,   /* the record at begin has no well-formed image record header */
    IMREC_FOUND_IMAGE,    /* the image at begin does not decode */
    IMREC_FOUND_SET,      /* manifest, checksums or shards do not belong together */
    IMREC_FOUND_KINDS,    /* how many kinds there are */
};
IMREC_API const char *imrec_finding_name(enum imrec_finding_kind kind); /* "damage", ... */

struct imrec_finding {
    enum imrec_finding_kind kind;
    const char *uri; /* of the shard */
    uint32_t shard;
    uint64_t begin, end; /* bytes of the shard; both 0 when the finding has no place */
    uint64_t id;         /* of the image, where it could be read */
    const char *reason;  /* one sentence */
};
typedef void imrec_finding_fn(void *user, const struct imrec_finding *f);

struct imrec_verify_options {
    size_t struct_size;
    bool structure_only;       /* no images are decoded */
    int64_t threads;           /* that decode; 0 = every CPU this process may use */
    int64_t max_pixels;        /* larger images are findings */
    imrec_finding_fn *finding; /* called in file order, shard by shard; may be NULL */
    imrec_progress_fn *progress;
    void *user;         /* of both */
    bool allow_missing; /* shards that their set lacks are a warning, not a finding */
};

struct imrec_verify_result {
    uint64_t records, images, bytes;
    uint64_t found[IMREC_FOUND_KINDS]; /* findings of each kind */
    uint64_t findings;                 /* their sum */
    uint64_t decoded;                  /* images that decode */
    uint64_t warnings;                 /* of these: mended by the decoder */
    uint64_t checksums;                /* records compared with a checksum */
    uint64_t indexed;                  /* records compared with an index */
    uint64_t metadata;                 /* of records: headers and identities, no images */
};

IMREC_API void imrec_verify_options_init(struct imrec_verify_options *o); /* defaults */
/* IMREC_OK also when there are findings: these are the result. Errors: what could not be
 * looked at all. The findings are the same for every number of threads. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_verify(const char *uri, const struct imrec_verify_options *o,
                     struct imrec_verify_result *out, struct imrec_error *err);

/* ---- reading with checks ------------------------------------------------------------------- */

struct imrec_record;
struct imrec_checked; /* opaque; one thread at a time */

/* Every record in file order, compared with the checksums beside its shard (.crc). A shard that has
 * none is compared as a whole with its manifest before its first record; where that says nothing
 * either, its records are given as they are, and one warning is logged. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_checked_open(const char *uri, imrec_progress_fn *progress, void *user,
                   struct imrec_checked **out, struct imrec_error *err);
/* IMREC_OK: an intact image record, whose pointers live until the next call. IMREC_ERR_DATA: what
 * is lost here is in imrec_checked_found(), and the next call goes on behind it: a damaged range, a
 * record that differs from its checksum, that the checksums do not have, that only they have, or
 * that is no image record. IMREC_END: that was all. Other errors end the reading: a broken .crc, or
 * a shard without one that differs from its manifest, is IMREC_ERR_CORRUPT. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_checked_next(struct imrec_checked *c, struct imrec_record *out, struct imrec_error *err);
/* Behind the last IMREC_ERR_DATA; lives until the next call. Its id is the index's where one
 * stands beside the shard and has the place, since the record's own may be what is damaged. */
IMREC_API const struct imrec_finding *imrec_checked_found(const struct imrec_checked *c);
/* Records given so far that nothing could be compared with. */
IMREC_API uint64_t imrec_checked_unchecked(const struct imrec_checked *c);
IMREC_API void imrec_checked_close(struct imrec_checked *c); /* NULL is allowed */

/* Compares all bytes of one shard, or CBF file, with the manifest beside it, whose checksum of it
 * is that of the whole file. IMREC_ERR_CORRUPT: they differ. One without a manifest, or that it
 * does not name, is fine. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_compare(const char *shard, struct imrec_error *err);

/* ---- repairing and indexing --------------------------------------------------------------- */

enum imrec_keys {
    IMREC_KEYS_ID,      /* the key of a record is its image id; the counter where it has none */
    IMREC_KEYS_COUNTER, /* 0, 1, 2, ... */
};

struct imrec_repair_options {
    size_t struct_size;
    enum imrec_keys keys;
    bool ignore_checksums;     /* else what differs from the .crc beside is dropped */
    bool decode;               /* drop images that do not decode as well */
    bool force;                /* replace outputs that exist */
    imrec_finding_fn *finding; /* what was lost, in file order, and behind each shard the records
                                  that left nothing; may be NULL */
    imrec_progress_fn *progress;
    void *user;
    bool drop_unmatched; /* drop records that no checksum of the .crc beside is of, also where they
                            decode */
};

struct imrec_repair_result {
    uint64_t kept, kept_bytes; /* records, and their bytes without frames */
    uint64_t dropped; /* readable records: other bytes than were packed, or (decode) no image */
    uint64_t damaged_ranges, lost_bytes;
    uint64_t unmatched; /* of kept: no checksum is of them, but they decode without a warning */
    uint64_t missing;   /* checksums that no readable record has */
    uint64_t metadata;  /* of those kept: headers and identities; they name keys that are ids */
};

IMREC_API void imrec_repair_options_init(struct imrec_repair_options *o);
/* Writes every intact record of `uri`, in order, to the one shard `path`, its .idx and its .crc;
 * they appear when all is written. Records are found on any byte, also behind bytes that came in or
 * went missing. A record is intact if the .crc beside its shard has a checksum of its length and
 * bytes, wherever it stands: it takes that along. One that stands in the order where a checksum of
 * its length is left has other bytes than were packed, and is dropped. One that no checksum can be
 * meant for is kept if its image decodes without a warning. Without a .crc every readable record
 * is kept. IMREC_ERR_DATA: there is none. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_repair(const char *uri, const char *path, const struct imrec_repair_options *o,
                     struct imrec_repair_result *out, struct imrec_error *err);

struct imrec_index_result {
    uint64_t records;
    uint64_t repeated;       /* keys that an earlier record has as well */
    uint64_t damaged_ranges; /* left out */
};
/* Writes the index of one shard to idx_path (NULL: beside it, .rec replaced by .idx). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_dataset_index(const char *shard, const char *idx_path, enum imrec_keys keys, bool force,
                    struct imrec_index_result *out, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
