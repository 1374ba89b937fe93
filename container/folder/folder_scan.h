/* container/folder/folder_scan.h - the images of a folder, and their classes.
 *
 * The order is that of MXNet's im2rec.py: the files of a folder sorted by bytes, then its
 * folders sorted by bytes, each walked the same way. Links are followed; a link to a folder that
 * was reached through a link before, or that we are in, is skipped: nothing loops. */
#ifndef IMREC_CONTAINER_FOLDER_FOLDER_SCAN_H
#define IMREC_CONTAINER_FOLDER_FOLDER_SCAN_H

#include "base/stop.h"
#include "container/folder/scanned.h"
#include "imrec/packer.h"

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
    bool said;               /* the files keep what lists say of them: scan_said() */
    bool classes_only;       /* no folder below the root is entered */
};

/* Walks the folder; once more for sounds (.wav) where it holds no image. A folder that cannot be
 * opened is IMREC_ERR_IO for the root, and a skip below it; an unknown or missing class of a given
 * list is IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
scan_folder(const struct scan_options *o, struct scan *out, struct imrec_error *err);
#endif
