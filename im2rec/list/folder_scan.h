/* im2rec/list/folder_scan.h - the images of a folder, and their classes.
 *
 * The order is that of MXNet's im2rec.py: the files of a folder sorted by bytes, then its
 * folders sorted by bytes, each walked the same way. Links are followed; a link to a folder that
 * was reached through a link before, or that we are in, is skipped: nothing loops. */
#ifndef IMREC_IM2REC_LIST_FOLDER_SCAN_H
#define IMREC_IM2REC_LIST_FOLDER_SCAN_H

#include "base/stop.h"
#include "base/string_arena.h"
#include "formats/set/class_list.h"
#include "im2rec/item/reason.h"
#include "imrec/packer.h"

struct scan_file { /* 12 bytes + name; 14 million files take half a gigabyte */
    uint32_t folder;
    uint32_t id; /* place in the order of the scan */
    char name[];
};
struct scan_folder {
    const char *path;    /* under the root, "" for the root itself */
    int64_t class_index; /* -1: outside every class, or not yet known */
};
struct scan_skip {
    const char *path, *why;
    enum reason reason;
};

struct scan {
    struct string_arena texts;
    struct scan_folder *folders;
    struct scan_file **files; /* of all images, in order */
    struct scan_skip *skips;
    struct class_list classes; /* found ones, where none were given; or given and new ones */
    size_t folder_count, file_count, skip_count;
    uint64_t folder_room, file_room, skip_room;
    uint64_t other_files; /* whose names do not count as images */
};

struct scan_options {
    const char *root;
    enum imrec_class_from class_from;
    const char *exts;                          /* ".a,.b"; "" = extensions */
    const char *const *builtin;                /* extensions with their dot, NULL at the end */
    const struct class_list *given;            /* fixes the numbering; or NULL */
    bool some_classes;                         /* not all of these need have a folder */
    bool new_classes;                          /* others are numbered after them */
    bool (*go_on)(void *user, uint64_t files); /* called now and then; false ends the scan */
    void *user;
    const struct stop *stop; /* ends it, too; or NULL */
};

/* Walks the folder; once more for sounds (.wav) where it holds no image. A folder that cannot be
 * opened is IMREC_ERR_IO for the root, and a skip below it; an unknown or missing class of a given
 * list is IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
scan_folder(const struct scan_options *o, struct scan *out, struct imrec_error *err);
void scan_free(struct scan *s); /* zeroed memory is fine */

/* Writes "folder/name" to out; the path was checked to fit when it was scanned. */
void scan_path(const struct scan *s, const struct scan_file *f, char out[4096]);
#endif
