/* container/archive/tar_samples.h - WebDataset's samples of a tar archive: neighbouring files whose
 * names are equal up to the first dot after the last slash, the key; the rest of a name is its
 * extension (webdataset/tariterators.py of webdataset 0.2: base_plus_ext, group_by_keys). */
#ifndef IMREC_CONTAINER_ARCHIVE_TAR_SAMPLES_H
#define IMREC_CONTAINER_ARCHIVE_TAR_SAMPLES_H

#include "base/buf.h"
#include "container/archive/tar_walk.h"

#define TAR_PARTS_MOST 65536u

/* A file of a sample, or a link that is called like one. */
struct tar_part {
    uint64_t content, bytes; /* in the archive */
    size_t name;             /* tar_part_name() */
    size_t kept;             /* tar_part_kept() */
    enum tar_type type;      /* TAR_FILE or TAR_LINK */
};

struct tar_samples {
    struct tar_walk walk;
    size_t keep; /* by the caller: larger contents are not kept; 0: none is */
    /* The sample in hand: */
    uint64_t begin, end; /* its files with their headers; equal: it has links alone */
    char key[TAR_NAME_MAX];
    struct tar_part *parts;
    uint32_t count;
    uint64_t room;
    struct buf names; /* of the parts, each with its NUL, and what is kept of them */
    /* What was read and does not belong to it: */
    bool pending;
    enum imrec_status status;
    struct tar_file next;
    struct imrec_error why;
};

IMREC_NODISCARD enum imrec_status tar_samples_begin(struct tar_samples *s, struct source *source,
                                                    uint64_t size, bool far,
                                                    struct imrec_error *err);
void tar_samples_end(struct tar_samples *s); /* zeroed memory is fine */

/* The next sample. IMREC_END: there is none. IMREC_ERR_NO_MEMORY. Any other status is what is wrong
 * at the byte err->offset, between samples: the one before it may lack a file; the next call
 * continues. A sparse file is one, too (IMREC_ERR_UNSUPPORTED). */
IMREC_NODISCARD enum imrec_status tar_samples_next(struct tar_samples *s, struct imrec_error *err);
/* Where the next call begins: a walk that begins there finds the same samples. */
uint64_t tar_samples_at(const struct tar_samples *s);
/* Of a part, until the next call: its name in the archive, and the extension in it. */
const char *tar_part_name(const struct tar_samples *s, const struct tar_part *p);
const char *tar_part_extension(const struct tar_samples *s, const struct tar_part *p);
/* Its content; NULL: it was not kept. */
const uint8_t *tar_part_kept(const struct tar_samples *s, const struct tar_part *p);
/* Bytes of a name's key; *extension: the text after its dot, or NULL. */
size_t tar_key_bytes(const char *name, const char **extension);
#endif
