/* container/archive/tar_walk.h - the files of a tar archive, one after the other, by their headers
 * alone. */
#ifndef IMREC_CONTAINER_ARCHIVE_TAR_WALK_H
#define IMREC_CONTAINER_ARCHIVE_TAR_WALK_H

#include "formats/tar/tar_header.h"

struct source;
struct tar_walk {
    struct source *source; /* the caller's */
    uint64_t size, at;     /* of the archive, as far as it is known; of the next header */
    /* Of an archive that is unpacked while it is read: how many bytes it has, or `bytes` if it has
     * as many at least. For the caller to set, with a size of 0; NULL: the size is known. */
    uint64_t (*reach)(struct source *s, uint64_t bytes);
    bool ended;          /* zeros, which end an archive, come after the last file */
    struct tar_header h; /* of the file in hand */
    uint8_t *piece;      /* of long names, and to search in */
    uint8_t *near;       /* bytes [near_at, near_at + near_n) of the archive */
    uint64_t near_at;
    size_t near_n, near_room;
};

/* Where a file is: the first of its headers, its content (h.size bytes), the header after it. */
struct tar_file {
    uint64_t begin, content, end;
};

/* far: a read of the source takes a round trip, so that few are made. */
IMREC_NODISCARD enum imrec_status tar_walk_begin(struct tar_walk *w, struct source *source,
                                                 uint64_t size, bool far, struct imrec_error *err);
void tar_walk_end(struct tar_walk *w); /* zeroed memory is fine */

/* The next file, folder or link; w->h says which. Zeros and global headers are passed over.
 * IMREC_END: there is none. After any other status but IMREC_ERR_NO_MEMORY the next call continues
 * at the next header that is valid; err->offset is the byte of the one that is not. */
IMREC_NODISCARD enum imrec_status
tar_walk_next(struct tar_walk *w, struct tar_file *out, struct imrec_error *err);
/* n bytes of the archive at `at`, which are there. Few of them, next to a header, cost no read. */
IMREC_NODISCARD enum imrec_status
tar_walk_read(struct tar_walk *w, uint64_t at, void *to, size_t n, struct imrec_error *err);
#endif
