/* container/archive/tar_members.h - the files of a sample, out of the bytes that it has in its
 * archive: headers and contents. */
#ifndef IMREC_CONTAINER_ARCHIVE_TAR_MEMBERS_H
#define IMREC_CONTAINER_ARCHIVE_TAR_MEMBERS_H

#include "formats/tar/tar_header.h"

struct tar_member { /* views of the bytes */
    struct bytes extension, content;
    struct tar_header h;
};

/* The next file that has an extension; *left moves past it. False: there is none. Headers were
 * checked when they were listed, and are again: the file may have changed since. Pure. */
bool tar_members_next(struct bytes *left, struct tar_member *m);
#endif
