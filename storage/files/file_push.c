/*
 * storage/files/file_push.c - dirty pages of a file to the disk, piece by piece.
 *
 * fsync() of much takes as long as the disk takes, and is heard out: no signal ends it. Who pushes
 * first and waits for each piece can leave in between; an fsync() is needed all the same, but finds
 * clean pages.
 */
#define _GNU_SOURCE /* sync_file_range() */
#include "storage/files/file_store.h"

#include <errno.h>
#include <fcntl.h>

int file_push(void *user, int fd, off_t offset, off_t n, bool wait)
{
    (void)user;
#ifdef SYNC_FILE_RANGE_WRITE
    const unsigned begin = SYNC_FILE_RANGE_WRITE;
    const unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | begin | SYNC_FILE_RANGE_WAIT_AFTER;
    if (sync_file_range(fd, offset, n, wait ? all : begin) == 0 ||
        (errno != EIO && errno != ENOSPC))
        return 0; /* where it cannot be done, the fsync() does all of it */
    return -1;    /* of which the fsync() may not tell again */
#else
    (void)fd, (void)offset, (void)n, (void)wait;
    return 0;
#endif
}
