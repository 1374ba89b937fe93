/* formats/tar/tar_header.h - the 512 bytes before each file of a tar archive: POSIX ustar (IEEE Std
 * 1003.1-2017, pax), and GNU tar's sizes and long names. */
#ifndef IMREC_FORMATS_TAR_TAR_HEADER_H
#define IMREC_FORMATS_TAR_TAR_HEADER_H

#include "base/bytes.h"
#include "base/math.h"
#include "imrec/error.h"

#define TAR_BLOCK    512u /* headers and contents begin at multiples of it */
#define TAR_NAME_MAX 4096u

enum tar_type {
    TAR_FILE,
    TAR_LINK,      /* to another file: it has no content */
    TAR_OTHER,     /* a folder, the label of an archive: skipped */
    TAR_ODD,       /* what it is, tar_odd_kind() says: not a file whose bytes are here */
    TAR_LONG_NAME, /* its content is the name of the next one (GNU) */
    TAR_LONG_LINK, /* ... of what the next one links to: skipped */
    TAR_PAX,       /* its content has keywords for the next one */
    TAR_GLOBAL,    /* ... for all: skipped */
    TAR_SPARSE,    /* a file with holes: shorter than its size; TAR_ODD in other respects */
    TAR_END,       /* a block of zeros */
};

struct tar_header {
    enum tar_type type;
    uint8_t flag;            /* the byte that says the type */
    char name[TAR_NAME_MAX]; /* with its folder */
    uint64_t size;           /* bytes of the content, which is padded to whole blocks */
    struct bytes written;    /* the name where it was read, at least from its last slash on: a view
                                of the caller's bytes */
};

/* Whether a file begins with a tar header: its magic is at byte 257. */
bool tar_is_magic(struct bytes first);
/* Whether it begins with the zeros that end an archive: it has no file. */
bool tar_is_empty(struct bytes first);
/* One header. IMREC_ERR_CORRUPT says which field is wrong. */
IMREC_NODISCARD enum imrec_status
tar_header_parse(const uint8_t p[TAR_BLOCK], struct tar_header *out, struct imrec_error *err);
/* "a FIFO", for a message about TAR_ODD, TAR_LINK and TAR_SPARSE. */
const char *tar_odd_kind(const struct tar_header *h);
/* The content of a TAR_LONG_NAME or TAR_PAX before *h, into it. */
IMREC_NODISCARD enum imrec_status tar_header_extend(struct tar_header *h, enum tar_type type,
                                                    struct bytes content, struct imrec_error *err);
/* n, up to whole blocks. */
static inline uint64_t tar_padded(uint64_t n)
{
    return align_up(n, TAR_BLOCK);
}
#endif
