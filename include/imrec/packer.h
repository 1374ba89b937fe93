/* imrec/packer.h - packs folders and lists of images into record shards: im2rec as a function. */
#ifndef IMREC_PACKER_H
#define IMREC_PACKER_H

#include "imrec/report.h"
#include "imrec/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum imrec_class_from { IMREC_CLASS_TOP, IMREC_CLASS_LEAF, IMREC_CLASS_FLAT };
enum imrec_encoding { IMREC_ENCODE_JPEG, IMREC_ENCODE_PNG };
enum imrec_pack_format { IMREC_PACK_REC, IMREC_PACK_CBF };
/* The image that masks, boxes and keypoints were drawn on: as EXIF turns it, or as stored. */
enum imrec_drawn_on { IMREC_DRAWN_ON_UPRIGHT, IMREC_DRAWN_ON_STORED };
/* A binary index (.idxb) next to each shard: where the set has more than 1000000 records, or
 * always, or never. */
enum imrec_binary_index {
    IMREC_BINARY_INDEX_AUTO,
    IMREC_BINARY_INDEX_YES,
    IMREC_BINARY_INDEX_NO,
};
/* What is wrong with tar archives and their samples: all of it is skipped, or damage of archives,
 * or nothing, and the first one ends the run. */
enum imrec_archive_errors {
    IMREC_ARCHIVE_SKIP,
    IMREC_ARCHIVE_SKIP_DAMAGE,
    IMREC_ARCHIVE_STOP,
};
/* Do JPEGs get restart markers? Auto: those that are encoded do, those that are passed through do
 * not; with --append: as the set has them. Yes, with pass_through: they are written again, their
 * coefficients as they are; an image that is no JPEG, or a damaged one, keeps its bytes. */
enum imrec_tile { IMREC_TILE_AUTO, IMREC_TILE_YES, IMREC_TILE_NO };
/* Chroma of a JPEG that is encoded: at half the resolution both ways, or all of it. */
enum imrec_subsampling { IMREC_SUBSAMPLING_420, IMREC_SUBSAMPLING_444 };
enum imrec_check { IMREC_CHECK_NONE, IMREC_CHECK_HEADER, IMREC_CHECK_DECODE };

/* The packer's table; columns as in imrec/iter_params.h. Old spellings (--recursive, nsplit=,
 * part=K, unchanged=, ...) are translated by im2rec and listed in docs/guide/packing.md. */
/* clang-format off */
#define IMREC_PACK_PARAMS(X) \
    X(enum imrec_class_from, class_from, "top", 0, 2, "top|leaf|flat", "list", "class of an image: first-level folder; the folder it is in; none, and folders below FOLDER are ignored") \
    X(const char *, classes,       "",  0, 65535,   "FILE",    "list",  "class list that fixes the numbering; another or a missing class is an error") \
    X(bool,    shuffle,            "1", 0, 1,       "",        "list",  "shuffle the files of a folder as Python's random.Random(seed).shuffle()") \
    X(int64_t, seed,               "100", 0, INT64_MAX, "",    "list",  "seed of that shuffle") \
    X(bool,    list,               "0", 0, 1,       "",        "list",  "write lists only, pack nothing") \
    X(float,   train_ratio,        "1", 0, 1,       "0..1",    "list",  "with --list: share of the train list") \
    X(float,   test_ratio,         "0", 0, 1,       "0..1",    "list",  "with --list: share of the test list") \
    X(int64_t, chunks,             "1", 1, 1 << 20, "N",       "list",  "with --list: cut the list into N lists") \
    X(const char *, exts,          "",  0, 4096,    ".a,.b",   "list",  "file names that count as images (default: those of every format built in; .wav if there is none)") \
    X(int64_t, label_width,        "0", 0, 1 << 20, "labels",  "list",  "number of labels on a line of the list; 0 = any number") \
    X(bool,    pack_label,         "0", 0, 1,       "",        "list",  "pack all labels of a line, not only the first") \
    X(struct imrec_share, part,    "0/1", 1, 1 << 20, "K/N",   "list",  "pack only the share K, from 0, of N") \
    X(int64_t, resize,             "0", 0, 65500,   "px",      "image", "shorter side after resize; 0 keeps the size") \
    X(bool,    center_crop,        "0", 0, 1,       "",        "image", "crop the longer side to a square") \
    X(int64_t, quality,            "95", 1, 100,    "Q",       "image", "JPEG quality 1..100, or PNG compression 1..9") \
    X(int64_t, color,              "1", -1, 1,      "1|0|-1",  "image", "1 = colour, 0 = grey, -1 = as the file is") \
    X(enum imrec_encoding, encoding, "jpg", 0, 1,   "jpg|png", "image", "format of an image that is encoded") \
    X(bool,    pass_through,       "0", 0, 1,       "",        "image", "store the files' bytes as they are") \
    X(enum imrec_check, check,     "header", 0, 2,  "none|header|decode", "image", "with --pass-through: checks before storing") \
    X(int64_t, max_pixels,         "178956970", 1, INT64_MAX / 16, "px", "image", "skip images that claim more pixels, before decoding") \
    X(bool,    accept_truncated,   "0", 0, 1,       "",        "image", "pack images whose end is missing") \
    X(int64_t, threads,            "0", 0, 1024,    "workers", "run",   "threads that pack; 0 = every CPU this process may use (two where files are only passed through), and one more where a store is written to") \
    X(int64_t, memory,             "1073741824", 16777216, INT64_MAX, "bytes", "run", "limit of memory for images in work and waiting records; an image that needs more than 7/8 of it is skipped") \
    X(int64_t, shards,             "0", 0, 1 << 20, "N",       "run",   "cut the output into N shards, OUT-00000-of-0000N.rec") \
    X(int64_t, shard_size,         "0", 0, INT64_MAX, "bytes", "run",   "begin another shard at this size") \
    X(bool,    resume,             "0", 0, 1,       "",        "run",   "continue an interrupted run") \
    X(bool,    force,              "0", 0, 1,       "",        "run",   "replace outputs that exist") \
    X(enum imrec_on_error, on_error, "skip", 0, 1,  "stop|skip", "run", "an image that cannot be packed: stop, or skip and count it") \
    X(const char *, report,        "",  0, 65535,   "FILE",    "run",   "write skipped and corrected images, with reasons, as JSON lines") \
    X(enum imrec_pack_format, format, "rec", 0, 1,  "rec|cbf", "image", "records of RecordIO, or CNTK's binary format: OUT.cbf") \
    X(bool,    pixels,             "0", 0, 1,       "",        "image", "with --format cbf: decoded pixels as floats, which CNTK trains on, not files") \
    X(int64_t, cbf_chunk,          "33554432", 1, INT64_MAX, "bytes", "run", "with --format cbf: bytes of a chunk, which is read at once") \
    X(int64_t, inter_method,       "-1", -1, 10,    "-1|0..4|9|10", "image", "resize as OpenCV does: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random; -1 = a filter that widens as images shrink") \
    X(const char *, augment,       "",  0, 4096,    "key=value ...", "image", "augment before encoding, after resize: the keys of ImageRecordIter, blanks between; data_shape=C,H,W sets the size") \
    X(const char *, annotations,   "",  0, 65535,   "FILE",    "list",  "images and boxes of COCO's instances (a JSON file) or Pascal VOC (a folder of XML files), paths below ROOT") \
    X(int64_t, copies,             "1", 1, 1 << 16, "N",       "image", "with --augment: make N records of each image, with ids N * id + 0, 1, ...") \
    X(bool,    new_classes,        "0", 0, 1,       "",        "list",  "number classes that are not in the class list (--classes, or with --append the set's) after its own") \
    X(const char *, masks,         "",  0, 4095,    "FOLDER",  "list",  "pack masks: FOLDER's a/b.png for ROOT's a/b.jpg, grey or with a palette") \
    X(int64_t, ignore_label,       "255", 0, 65535, "",        "image", "with --masks and --augment: value of pixels outside the image") \
    X(int64_t, keypoints,          "0", 0, 4096,    "points",  "list",  "with --pack-label: labels (with boxes: each object) end in this many keypoints of x, y, visibility") \
    X(const char *, keypoint_pairs, "", 0, 4096,    "A-B,...", "list",  "keypoints, from 0, that change places when an image is mirrored") \
    X(enum imrec_drawn_on, drawn_on, "upright", 0, 1, "upright|stored", "image", "the image that boxes, keypoints, and masks whose size fits both ways, were drawn on: turned by its EXIF orientation, or as it is stored") \
    X(bool,    drop_empty,         "0", 0, 1,       "",        "list",  "with --annotations: skip images without an object; 0 = pack them without a box") \
    X(const char *, max_skipped,   "",  0, 64,      "N|P%",    "run",   "end the run, which --resume can continue, when more images than this are skipped: a number, or a share of all images, as 0.5% (default: no limit)") \
    X(enum imrec_binary_index, binary_index, "auto", 0, 2, "auto|yes|no", "run", "write .idxb, of which a reader of one partition reads its part only: auto = for more than 1000000 records") \
    X(const char *, image_ext,     "",  0, 255,     "EXT",     "list",  "of tar archives: extension of a sample's image, as left.jpg (default: that of any format built in); of TFRecord files: the feature (default: image/encoded)") \
    X(const char *, label_ext,     "",  0, 255,     "EXT|none", "list", "of tar archives: extension of a sample's label, a number (default: the first of cls, label and id that the first sample has); of TFRecord files: the feature (default: image/class/label); none = pack without labels") \
    X(const char *, fields,        "",  0, 4095,    "EXT,...", "list",  "pack files next to each image as fields of its record: a/b.txt for a/b.jpg with txt, in a tar archive the same of its sample, in a TFRecord file the features of its Example; an image without one is skipped, unless it is written as txt?") \
    X(const char *, columns,       "",  0, 4095,    "NAME,...", "list", "names of the list's last columns, those after the path, which are packed as fields of the record; of a name that is written as url? an empty column is no field") \
    X(enum imrec_archive_errors, archive_errors, "skip", 0, 2, "skip|skip_damage|stop", "list", "what is wrong with an archive or a sample of it: skip and report it; the same for damage alone, the rest is an error; or all of it is an error, before anything is packed") \
    X(int64_t, label_offset,       "0", -(1 << 24), 1 << 24, "classes", "list", "of tar archives and TFRecord files: added to every label; -1 for classes that count from 1") \
    X(enum imrec_tile, tile,       "auto", 0, 2,    "auto|yes|no", "image", "write a restart marker at the end of each row of blocks, so that readers decode no rows but those that they need; auto = yes, in JPEGs that are encoded; with --append: as the set has them; with --pass-through, where auto = no, JPEGs are written again without loss") \
    X(bool,    baseline,           "0", 0, 1,       "",        "image", "with --pass-through: write progressive JPEGs again as sequential ones, without loss (implied by --tile); JPEGs that are encoded are baseline in any case") \
    X(enum imrec_subsampling, subsampling, "420", 0, 1, "420|444", "image", "chroma of JPEGs that are encoded: 420 = at half the resolution both ways; 444 = all of it, which takes more bytes and more time to decode") \
    X(const char *, quality_target, "", 0, 64, "ssim=X|bytes=N", "image", "choose the quality of each JPEG that is encoded: ssim=X = the lowest, 1 to 100, whose decoded luma has a structural similarity of X (0 to 1) to the image, as ssim=0.98; bytes=N = the highest that takes N bytes, as bytes=40K; an image that no quality fits is skipped") \
    X(bool,    shared_tables,      "0", 0, 1,       "",        "image", "write all JPEGs of the set with the same Huffman tables, made of a sample of its images, in place of optimal ones of each: the same pixels in about 1 % more bytes, which readers decode faster; with --append: as the set has them; with --pass-through: of JPEGs that --tile or --baseline writes again")
/* clang-format on */

/* How to pack: fill with imrec_pack_options_init(), then change fields. Text must stay valid until
 * imrec_pack() returns. */
struct imrec_pack_options {
    size_t struct_size;
    IMREC_PACK_PARAMS(IMREC_FIELD)
};

IMREC_API void imrec_pack_options_init_sized(struct imrec_pack_options *o, size_t size);
static inline void imrec_pack_options_init(struct imrec_pack_options *o)
{
    imrec_pack_options_init_sized(o, sizeof(*o));
}

/* Sets one field from "key=value". An unknown key is IMREC_ERR_ARGUMENT, whose message suggests the
 * nearest name; a bad value is one whose message says what would be right. The text must outlive
 * *o. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_pack_options_set(struct imrec_pack_options *o,
                                                                   const char *key_value,
                                                                   struct imrec_error *err);

/* What to pack, and the output. */
struct imrec_pack_task {
    const char *list; /* LIST.lst, or NULL: a folder of classes is the list */
    const char *root; /* that folder, or tar archives or TFRecord files ("a.tar;b.tar.gz", a glob,
                         a folder of them); with a list the folder of its relative paths */
    const char *out;  /* OUT.rec (".rec" is optional) ... */
    bool exact_name;  /* ... or the exact name; .idx and the others are appended to it */
    /* Called at every image, and several times a second while one takes long: false ends the run
     * within two seconds, as if interrupted. */
    imrec_progress_fn *progress;
    void *user;
    bool some_classes; /* a folder need not have every class of the class list */
};

#define IMREC_PACK_KINDS 32
#define IMREC_PACK_SKIPS 10

struct imrec_pack_count {
    char name[32];
    uint64_t count;
};
struct imrec_pack_range {
    uint32_t least, median, most;
};

/* An image that is not in the set. */
struct imrec_pack_skip {
    uint64_t line;    /* of the list, from 1; 0: a folder */
    char path[512];   /* below the root, any bytes; a longer one is "..." and its end */
    char code[32];    /* as in `reasons`: "damaged" */
    char reason[512]; /* the reason, without a subject: "is empty" */
};

/* The result of a run: the data set's card. Equal runs give equal numbers, resumed or not. */
struct imrec_pack_result {
    uint64_t total, packed, skipped; /* images */
    uint64_t mended, warnings;       /* images that the decoder repaired, and its warnings */
    uint64_t resumed;                /* of total: done by earlier runs */
    uint64_t other_files;            /* of the folder, whose names do not count as images */
    uint64_t file_bytes, bytes;      /* read; written into shards */
    uint64_t shards;
    uint64_t lists;                            /* with list=1: files written */
    uint64_t classes, class_least, class_most; /* and images of the smallest and largest class */
    struct imrec_pack_range width, height;     /* of the packed images, px */
    struct imrec_pack_count kinds[IMREC_PACK_KINDS], reasons[IMREC_PACK_KINDS];
    uint32_t kind_count,
        reason_count; /* kinds of files packed; reasons of skips; most frequent first */
    /* Of the kinds: images that were encoded again, or came as pixels; the others are stored
     * unchanged. Most frequent first. */
    struct imrec_pack_count encoded[IMREC_PACK_KINDS];
    uint32_t encoded_count;
    uint64_t unlabelled; /* of packed: without a label; 0 is stored */
    uint64_t rewritten;  /* of packed: JPEGs that were passed through, but written again without
                            loss,  as tile or baseline asks for; they count as encoded */
    struct imrec_pack_skip first_skips[IMREC_PACK_SKIPS]; /* in the order of the list; */
    uint32_t first_skip_count;                            /* options.report has all of them */
    bool was_complete; /* resume=1 found a finished set: packed, skipped, resumed, shards, bytes and
                          classes are those of the set, and nothing was done */
};

/* Packs. *out is filled as far as it is known, also on failure.
 *   IMREC_OK             the set is complete; out->skipped images are not in it. With resume=1 it
 *                        may have been complete before: out->was_complete.
 *   IMREC_ERR_CANCELLED  progress() returned false; finished work is kept, resume=1 continues. This
 *                        is possible even while the files get their names: without a manifest they
 *                        are not a set yet.
 *   IMREC_ERR_DATA       on_error=stop found an image that cannot be packed, or no image could be
 *                        packed (the message has the first reason), or more were skipped than
 *                        max_skipped allows.
 *   IMREC_ERR_ARGUMENT   a wrong option or task; nothing was changed.
 *   IMREC_ERR_IO         with sys_errno EBUSY: another process, or another call of this one, is
 *                        writing the files of this name; nothing was changed.
 *   other errors         storage or memory failed; resume=1 continues. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_pack(const struct imrec_pack_task *task, const struct imrec_pack_options *options,
           struct imrec_pack_result *out, struct imrec_error *err);

#ifdef __cplusplus
}
#endif
#endif
