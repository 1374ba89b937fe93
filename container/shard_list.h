/* container/shard_list.h - what a text like path_imgrec means: shards, and what is promised of
 * them. */
#ifndef IMREC_CONTAINER_SHARD_LIST_H
#define IMREC_CONTAINER_SHARD_LIST_H

#include "storage/uri_list.h"

struct shard_promise {       /* of a manifest */
    uint64_t bytes, records; /* UINT64_MAX: there is none */
};

struct container_kind;
enum shard_form { SHARDS_RECORDS, SHARDS_FOLDERS, SHARDS_LISTS };

struct shard_list {
    struct uri_list names;
    enum shard_form form; /* files of records; or folders of images, or lists of them (.lst) */
    struct shard_promise *promise;     /* of each; NULL where nothing was compared */
    const struct container_kind *only; /* by the caller: a directory has its files of this kind;
                                          NULL: of the first one that has any there */
};

enum shard_look {
    SHARDS_COMPLETE,      /* shards of a set that are missing are an error */
    SHARDS_ALLOW_MISSING, /* or a warning */
    SHARDS_LEAVE_MISSING, /* or nothing: opening the others as a list warns */
    SHARDS_UNSEEN,        /* nothing is compared */
};

/* Appends to *l, zeroed at first, what `spec` means: a file, "a.rec;b.rec", a directory (its files
 * of the first of container_kinds that has any there; one without any is itself a shard, if it
 * holds images or folders), a glob, or a manifest (NAME.manifest.json: the shards that it lists).
 * Shards next to folders that hold images, and shards of more than one form, are
 * IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status shard_list_add(struct shard_list *l, const char *spec,
                                                 enum shard_look look, struct imrec_error *err);
/* Compares all of it with the manifests next to the shards, and with names "-00000-of-00004".
 * Shards that a directory or a glob lacks are IMREC_ERR_IO (ENOENT); those that a list does not
 * name a warning. Reads manifests, and the names in a directory. Fills l->promise. */
IMREC_NODISCARD enum imrec_status
shard_list_check(struct shard_list *l, enum shard_look look, struct imrec_error *err);
/* Both, of one text; only: as in the struct. On failure *l is empty. */
IMREC_NODISCARD enum imrec_status shard_list_open(struct shard_list *l, const char *spec,
                                                  const struct container_kind *only,
                                                  enum shard_look look, struct imrec_error *err);
void shard_list_free(struct shard_list *l); /* zeroed memory is fine */
#endif
