/* im2rec/list/job.h - the images to pack, one after the other: out of a scanned folder, archives or
 * a .lst.
 *
 * A folder and archives are held in memory (names only), a list streams through a buffer. */
#ifndef IMREC_IM2REC_LIST_JOB_H
#define IMREC_IM2REC_LIST_JOB_H

#include "container/folder/folder_scan.h"
#include "im2rec/item/pack_item.h"
#include "im2rec/list/other_names.h"

struct list_reader;
struct source;
struct job {
    uint64_t total;       /* images of this share */
    uint64_t fingerprint; /* of all that this share is made of: paths, labels, skips of the scan */
    struct scan scan;     /* of a folder, or of archives */
    struct other_names others;      /* files of archives that are not packed */
    struct packed_archives *packed; /* of which images are read; NULL: none is packed */
    char *archives;                 /* the folder in which these are; NULL: there are none */
    uint32_t fields;                /* of an image in archives, whose columns say where they are */
    bool places;           /* paths of the list begin with places in archives: it is a plan's */
    bool unlabelled;       /* all labels are 0 and stand for none */
    bool scanned;          /* its list is what a scan found: its lines are nobody's */
    uint64_t first, next;  /* of a folder: begin of the share, and the next image */
    uint64_t images;       /* of the share: total is that times copies */
    uint64_t copies, copy; /* records of an image, and those that were made of the last one */
    struct pack_item last; /* its first part, where there are copies */
    struct list_reader *list;
    uint32_t widest; /* labels of a line of the list, all shares, by its tabs; 0: nobody knows */
    struct class_list given; /* class list that was given */
    bool has_given;
    uint64_t without_object, without_area; /* annotations: images, and objects that are skipped */
};

struct job_options {
    const struct imrec_pack_task *task;
    const struct imrec_pack_options *pack;
    bool (*go_on)(void *user, uint64_t found);
    void *user;
    const struct stop *stop; /* ends the looking through, too; or NULL */
};

IMREC_NODISCARD enum imrec_status
job_open(const struct job_options *o, struct job *out, struct imrec_error *err);
void job_close(struct job *j); /* zeroed memory is fine */

/* Logs what the annotations leave out, or what other readers do not take. */
void job_warn(const struct job *j, const struct job_options *o);

/* IMREC_ERR_DATA: there is no image, and where none was found. */
enum imrec_status job_nothing(const struct job *j, const struct imrec_pack_task *task,
                              const struct imrec_pack_options *pack, struct imrec_error *err);

/* Fills the first part of *p, outcome.index excepted; a malformed line is an image with a
 * reason. IMREC_END: there are no more. */
IMREC_NODISCARD enum imrec_status
job_next(struct job *j, struct pack_item *p, struct imrec_error *err);

/* job_next() begins with the first image once more. */
void job_rewind(struct job *j);

/* Reads the class list that fixes the numbering. */
IMREC_NODISCARD enum imrec_status
job_load_classes(const char *path, struct job *j, struct imrec_error *err);
/* Images of this share, those that the scan has passed over included, of which share 0 tells. */
uint64_t job_found(const struct job *j, const struct imrec_pack_options *o);

/* The folder of the images' paths. */
const char *job_root(const struct job *j, const struct imrec_pack_task *t);
/* The names of the labels; NULL: there are none. */
const struct class_list *job_classes(const struct job *j);
/* The order of random.Random(seed).shuffle(), which is that of MXNet's lists. */
void folder_shuffle(struct scan *s, int64_t seed);

/* ---- list_reader.c ------------------------------------------------------------------------ */
/* text: the list itself, taken over also on failure, `path` its name for messages; or NULL. */
IMREC_NODISCARD enum imrec_status
list_open(const char *path, struct source *text, uint32_t label_width, struct imrec_share share,
          const struct stop *stop, struct list_reader **out, uint64_t *total, uint64_t *fingerprint,
          struct imrec_error *err);
/* The first line is next, once more. */
void list_rewind(struct list_reader *r);
/* Each line ends in as many columns after its path: to be said before the first line is read. */
void list_take_columns(struct list_reader *r, uint32_t columns);
/* Of each line only the first label is packed: a record need not be able to hold the others. */
void list_pack_first(struct list_reader *r);
/* The most labels of a line, as tabs count them; 0: nobody knows. */
uint32_t list_widest(const struct list_reader *r);

/* Consecutive lines of a list. */
struct list_piece {
    uint64_t begin, end, lines_before; /* bytes; and lines of the list before them */
    uint32_t crc;                      /* crc32c of the bytes */
};
/* Opens such a piece, without looking through the list. One whose bytes are others by now is
 * IMREC_ERR_CORRUPT, when its last line was delivered. */
IMREC_NODISCARD enum imrec_status
list_open_piece(const char *path, const char *name, uint32_t label_width,
                const struct list_piece *piece, const struct stop *stop, struct list_reader **out,
                struct imrec_error *err);
/* Cuts the share into pieces: before its images ends[0], ends[1], ...; of `count` pieces the last
 * one has the rest. Nothing was delivered yet, or is afterwards. */
IMREC_NODISCARD enum imrec_status list_cut(struct list_reader *r, const uint64_t *ends,
                                           uint64_t count, struct list_piece *pieces,
                                           struct imrec_error *err);
/* The whole text of the list. */
struct sink;
IMREC_NODISCARD enum imrec_status
list_copy(struct list_reader *r, struct sink *to, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
list_next(struct list_reader *r, struct pack_item *p, struct imrec_error *err);
void list_close(struct list_reader *r); /* NULL is allowed */
#endif
