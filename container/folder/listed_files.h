/* container/folder/listed_files.h - the files that the lines of a .lst name. */
#ifndef IMREC_CONTAINER_FOLDER_LISTED_FILES_H
#define IMREC_CONTAINER_FOLDER_LISTED_FILES_H

#include "base/buf.h"
#include "base/bytes.h"
#include "container/folder/scanned.h"

struct listed_files {             /* zeroed memory is an empty list */
    uint64_t *id;                 /* of each file */
    uint32_t *label_begin;        /* of each in `labels`, and the end of the last one's */
    struct buf labels;            /* little-endian floats */
    uint64_t id_room, label_room; /* of the two tables */
    uint32_t widest;
};

/* Fills *files and *out, zeroed at first, also on failure: the caller frees both. A line that is
 * malformed, or whose name im2rec does not take, is a skip of *files. */
IMREC_NODISCARD enum imrec_status listed_files_load(const char *list, struct scan *files,
                                                    struct listed_files *out,
                                                    struct imrec_error *err);
/* All labels of a file: views that live as long as the list. */
struct bytes listed_files_labels(const struct listed_files *l, uint64_t file, uint32_t *count);
uint64_t listed_files_hash(const struct listed_files *l, uint64_t files, uint64_t hash);
uint64_t listed_files_memory(const struct listed_files *l);
void listed_files_free(struct listed_files *l);
#endif
