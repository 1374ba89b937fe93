/* im2rec/set/set_files.h - the files of a set as a whole: what they are called while they are
 * written and afterwards, whether they are in the way, and how they become real together. */
#ifndef IMREC_IM2REC_SET_SET_FILES_H
#define IMREC_IM2REC_SET_SET_FILES_H

#include "im2rec/list/job.h"
#include "im2rec/shard/shard_writer.h"
#include "storage/lock.h"

#define SET_WORK_MARK_BYTES 34 /* "0123456789abcdef-0123456789abcdef" */

struct set_files {
    char rec[NAME_BYTES];  /* "OUT.rec": what the other names are made from */
    char list[NAME_BYTES]; /* OUT.lst; OUT.packed.lst where OUT.lst is what is packed */
    char journal[NAME_BYTES];
    bool given_classes; /* OUT.classes.txt is the class list that was given */
    uint64_t count;     /* of shards; 0: known at the end */
    bool fresh;         /* no file of the set was there: none is to be replaced */
    enum imrec_binary_index binary_index;
    bool numbered;                 /* OUT-00000-of-00001.rec, also if there is one only */
    const struct shard_kind *kind; /* shards are OUT with its suffix */
    const struct stop
        *stop; /* ends what follows between two files: NULL from set_files_init() on */
    /* Shards that others wrote: the marks in their temporary names; NULL: there are none. */
    const char (*marks)[SET_WORK_MARK_BYTES];
};

/* What keeps two runs that write one set apart, whatever its format and shards: a lock on OUT.lock,
 * to be taken before anything is looked at. IMREC_ERR_IO with EBUSY: somebody else writes it. */
IMREC_NODISCARD enum imrec_status
set_lock(const char *out, struct lock **lock, struct imrec_error *err);

IMREC_NODISCARD enum imrec_status set_files_init(const struct imrec_pack_task *task,
                                                 const struct imrec_pack_options *o,
                                                 struct set_files *out, struct imrec_error *err);
/* What is known of the set's shards before the first one. */
struct shard_shape set_shape_of(const struct imrec_pack_options *o, const struct job *j);
/* The name under which shard k is written; its other files are next to it. */
void set_work_name(const struct set_files *s, uint64_t k, char out[NAME_BYTES]);
/* "OUT-00003.MARK.rec": one that only the caller with this mark uses. */
void set_marked_name(const struct set_files *s, uint64_t k, const char *mark, char out[NAME_BYTES]);
/* The one that it has in a finished set of `count` shards. */
void set_final_name(const struct set_files *s, uint64_t k, uint64_t count, char out[NAME_BYTES]);
/* Whether there is a file under the temporary name of `name`. */
IMREC_NODISCARD enum imrec_status
set_part_exists(const char *name, bool *there, struct imrec_error *err);

#define SET_TABLES "huffman_tables" /* of the manifest's options */
struct manifest_option;
struct set_totals {
    const struct written_shard *shards;
    uint64_t shard_count, records, skipped, label_width, list_bytes;
    uint64_t unlabelled; /* records whose label 0 stands for none */
    uint32_t list_crc;
    const char *tables;                    /* that the JPEGs share, as text; or NULL */
    const struct manifest_option *options; /* NULL: those of the packer */
    size_t option_count;
};
/* Class list (if there are classes) and manifest, durable under their temporary names. */
IMREC_NODISCARD enum imrec_status
set_write_totals(const struct set_files *s, const struct job *j, const struct imrec_pack_options *o,
                 const struct set_totals *t, struct imrec_error *err);
/* The class list alone, under `name`: committed, or only finished. */
IMREC_NODISCARD enum imrec_status
set_write_classes(const char *name, const struct job *j, bool commit, struct imrec_error *err);
/* Gives every finished file its final name, the manifest last. May be repeated. */
IMREC_NODISCARD enum imrec_status
set_publish(const struct set_files *s, uint64_t shards, struct imrec_error *err);

/* ---- set_index.c -------------------------------------------------------------------------- */
#define SET_BINARY_INDEX_RECORDS 1000000u /* with more a set gets .idxb by default */
/* Writes the .idxb of shards that have their final names, where they are wanted. May be repeated.
 */
IMREC_NODISCARD enum imrec_status
set_index_publish(const struct set_files *s, uint64_t shards, struct imrec_error *err);

/* ---- old_set.c: the files before ---------------------------------------------------------- */
/* The path of `base` in the folder of the set. False: the name is too long for any of ours. */
bool set_name_beside(const struct set_files *s, const char *base, char out[NAME_BYTES]);
struct manifest;
/* The manifest there, without shards where there is none or nobody can read it. */
IMREC_NODISCARD enum imrec_status
set_load_manifest(const struct set_files *s, struct manifest *m, struct imrec_error *err);
/* An interrupted run can be resumed. */
IMREC_NODISCARD enum imrec_status
set_is_unfinished(const struct set_files *s, bool *unfinished, struct imrec_error *err);
/* IMREC_ERR_ARGUMENT where the object is there. */
IMREC_NODISCARD enum imrec_status set_refuse_old(const char *name, struct imrec_error *err);
/* IMREC_ERR_ARGUMENT where an output exists. */
IMREC_NODISCARD enum imrec_status
set_check_free(const struct set_files *s, struct imrec_error *err);
/* IMREC_ERR_ARGUMENT where a set, or an interrupted run, of the other format has the name: force
 * does not replace it. */
IMREC_NODISCARD enum imrec_status
set_check_format(const struct set_files *s, struct imrec_error *err);
/* Makes way: the manifest first, then the shards that it names, and its class list. What no set of
 * this name has is left alone, with a warning. */
IMREC_NODISCARD enum imrec_status set_clear(const struct set_files *s, struct imrec_error *err);
/* set_publish() over an old set: its manifest is removed first, shards of other names last. */
IMREC_NODISCARD enum imrec_status
set_replace(const struct set_files *s, uint64_t shards, struct imrec_error *err);

/* ---- set_discard.c ------------------------------------------------------------------------ */
/* Removes what a run that cannot be resumed has written: the temporary files of `written` shards
 * and of the set, and, where publishing had begun, the final ones of `published` shards. */
void set_discard(const struct set_files *s, uint64_t written, uint64_t published);
/* The temporary files of one shard that was written as `rec`. */
void set_discard_shard(const struct set_files *s, const char *rec);
#endif
