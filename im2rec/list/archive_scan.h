/* im2rec/list/archive_scan.h - the images of tar archives, which WebDataset writes: files of one
 * key are a sample (container/archive/tar_samples.h), one of them is the image, another one has the
 * label as a number. Only headers and labels are read. */
#ifndef IMREC_IM2REC_LIST_ARCHIVE_SCAN_H
#define IMREC_IM2REC_LIST_ARCHIVE_SCAN_H

#include "base/stop.h"
#include "container/folder/scanned.h"
#include "formats/field_names.h"
#include "im2rec/list/archive_names.h"
#include "im2rec/list/other_names.h"
#include "imrec/packer.h"

struct archive_options {
    const char *spec;           /* "a.tar", "a.tar;b.tar", a glob */
    const char *image_ext;      /* "jpg", "left.jpg"; "": the one that ends in one of `builtin` */
    const char *label_ext;      /* "cls"; "": cls, label or id; "none": 0 stands for none */
    int64_t label_offset;       /* added to every label */
    const char *const *builtin; /* extensions with their dot, NULL at the end */
    const struct field_names *fields; /* extensions of further files of a sample; or NULL */
    enum imrec_archive_errors errors;
    struct other_names *others; /* becomes the names of files that are not packed; or NULL */
    bool (*go_on)(void *user, uint64_t images); /* called now and then; false ends the scan */
    void *user;
    const struct stop *stop; /* ends it, too; or NULL */
};

/* Whether the options say that there are no labels. */
bool archives_without_labels(const struct imrec_pack_options *o);

/* Folders of *out are the archives, below *root, the folder that they share (of imrec_realloc());
 * ids count the samples, over all archives. What is wrong with a sample is a skip, and so is a
 * damaged piece of an archive. IMREC_ERR_ARGUMENT: an archive that cannot be found, a sample with
 * several images, a first one without a label. */
IMREC_NODISCARD enum imrec_status archives_scan(const struct archive_options *o, struct scan *out,
                                                char **root, struct imrec_error *err);
#endif
