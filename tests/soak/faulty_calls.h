/* tests/soak/faulty_calls.h - the page that tests/soak/soak.py and tests/soak/faulty_calls.c share.
 * All numbers are native; tests/soak/faults.py packs the same layout. */
#ifndef IMREC_TESTS_FAULTY_CALLS_H
#define IMREC_TESTS_FAULTY_CALLS_H

#include <stdint.h>

enum fault {
    FAULT_READ_EIO,   /* passes: the next read of the thread works */
    FAULT_READ_BAD,   /* stays: bytes of `bad`, whoever reads them */
    FAULT_READ_SHORT, /* less than what was asked for */
    FAULT_READ_EINTR,
    FAULT_READ_SLOW,
    FAULT_WRITE_EIO,
    FAULT_WRITE_FULL, /* ENOSPC, after a part of the bytes */
    FAULT_WRITE_SHORT,
    FAULT_WRITE_EINTR,
    FAULT_WRITE_SLOW,
    FAULT_SYNC_EIO,
    FAULT_OPEN_EIO,
    FAULT_RENAME_EIO,
    FAULTS,
    FAULT_PLACES = 8, /* of `bad` */
};

struct fault_page {
    uint64_t seed;
    uint64_t calls;               /* of the system, so far */
    uint64_t injected[FAULTS];    /* so far */
    uint32_t per_million[FAULTS]; /* of calls of the kind; 0 = never */
    uint32_t sleep_us;            /* at most, of a slow call */
    uint32_t works; /* so many reads of a thread work after one that failed by chance */
    uint32_t bad_count;
    struct {
        uint64_t inode, begin, end;
    } bad[FAULT_PLACES];
    char folder[512]; /* only files below it fail; ends with a slash */
};
#endif
