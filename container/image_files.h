/* container/image_files.h - the kinds whose images are files of their own: folders of classes, and
 * lists (.lst) of files below a root.
 *
 * Each folder, or list, is one shard, whose bytes are those of its files (folder/file_run.h); a
 * record is a file. Order, ids and labels are those that im2rec gives: of a folder the scan's
 * (folder/folder_scan.h) and the number of the class, of a list those of its lines. What im2rec
 * skips by name has no record; a file that cannot be read is a lost one.
 *
 * Memory: 24 bytes a record of the partition, and of each file of the whole set 28 bytes, its name,
 * and what the list of a far store says of it; of lists 12 bytes more, and 4 a label. */
#ifndef IMREC_CONTAINER_IMAGE_FILES_H
#define IMREC_CONTAINER_IMAGE_FILES_H

#include "container/container.h"
#include "formats/set/class_list.h"

#define IMAGE_NAME_BYTES 4096

extern const struct container_kind folder_kind, list_kind;

/* c->kind and c->state for shards that are folders, or lists. */
IMREC_NODISCARD enum imrec_status
image_files_begin(struct container *c, const struct shard_list *l, struct imrec_error *err);
/* Whether a set is of these kinds. */
bool image_files_are(const struct container *c);
/* The name of a record's file below the folder, or as its list has it. */
void image_files_name(const struct container *c, const struct record_ref *r,
                      char out[IMAGE_NAME_BYTES]);

/* The class folders of a folder, in the order of their numbers; none where it has no folders. */
IMREC_NODISCARD enum imrec_status
image_folder_classes(const char *folder, struct class_list *out, struct imrec_error *err);
/* For each image of a folder: its id and its name. Stops at a status that is not IMREC_OK. */
typedef enum imrec_status
image_name_fn(void *user, uint64_t id, const char *name, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
image_folder_names(const char *folder, image_name_fn *each, void *user, struct imrec_error *err);
#endif
