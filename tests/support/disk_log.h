/* tests/support/disk_log.h - what a program asks of a disk, in order: the calls that create, write,
 * cut, sync, link, rename and remove files of a folder and of those in it, as the linker's --wrap
 * hands them over (imrec_crash_test() in tests/CMakeLists.txt). What stdio writes is seen when the
 * file is synced or gets another name.
 *
 * disk_states.h makes of it what a disk may hold after a crash. */
#ifndef IMREC_TESTS_DISK_LOG_H
#define IMREC_TESTS_DISK_LOG_H

#include "tests/support/disk_image.h"

enum { DISK_OPS = 8192 };

enum disk_op_kind {
    DISK_NEW,        /* name is file, which is empty, or a folder */
    DISK_RENAME,     /* name becomes to, in the same folder */
    DISK_LINK,       /* to is the file of name, too */
    DISK_REMOVE,     /* name */
    DISK_WRITE,      /* n bytes of file from `at` on */
    DISK_CUT,        /* file has n bytes */
    DISK_SYNC,       /* of file: its bytes and its size */
    DISK_SYNC_NAMES, /* of the folder called name; "": the one that is recorded */
    DISK_SYNC_ALL,   /* of everything */
};

struct disk_op {
    enum disk_op_kind kind;
    int file; /* a number of its own for each that was created, whatever its name was */
    uint64_t at, n;
    uint8_t *p;
    bool folder; /* what is new */
    char name[DISK_NAME], to[DISK_NAME];
};

struct disk_log {
    struct disk_image before; /* its files are numbers 0, 1, ... */
    struct disk_op ops[DISK_OPS];
    size_t count;
};

/* Records from now on what happens in `folder`, a path. */
void disk_log_begin(const char *folder);
struct disk_log *disk_log_end(void);
void disk_log_free(struct disk_log *log);
/* Without a log, too: fsync() returns at once, for tests that pack thousands of times. */
extern bool disk_log_no_sync;

#endif
