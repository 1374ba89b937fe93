/* imrec/archive.h - the images of WebDataset's tar archives, one after the other, as imrec_pack()
 * takes them. */
#ifndef IMREC_ARCHIVE_H
#define IMREC_ARCHIVE_H

#include "imrec/packer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct imrec_archive;

/* A sample's image and label. Pointers are valid until the next call. */
struct imrec_archive_sample {
    const char *name;  /* archive and file, "a.tar/0001.jpg" */
    const void *image; /* the file's bytes */
    size_t image_bytes;
    float label; /* 0 without labels */
    uint64_t id; /* samples before it, over all archives */
};

/* spec: "a.tar", "a.tar;b.tar.gz", a glob, in any store. Of *options image_ext, label_ext and
 * archive_errors count; NULL: the defaults. All headers and labels are read here: errors are those
 * of imrec_pack(), and *skipped (NULL: nobody asks) samples, or damaged places, are passed over. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_archive_open(const char *spec, const struct imrec_pack_options *options,
                   struct imrec_archive **out, uint64_t *skipped, struct imrec_error *err);
/* The next one; IMREC_END: there is none. IMREC_ERR_LIMIT: an image is larger than a record may be
 * (2^29 - 1 bytes); the next call continues after it. One thread at a time. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_archive_next(struct imrec_archive *a,
                                                               struct imrec_archive_sample *out,
                                                               struct imrec_error *err);
IMREC_API void imrec_archive_close(struct imrec_archive *a); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
