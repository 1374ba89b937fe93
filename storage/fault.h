/* storage/fault.h - local files with a script of faults: which, and when.
 *
 *     fault://seek_ms=8,mb_per_s=150:/data/a.rec     files on one slow disk
 *     fault://script=NAME:/tmp/a.rec                 the script of fault_set(NAME, ...)
 *
 * Files that are opened with the same text between "fault://" and ':' are on one device: one
 * disk head, one set of counters, living as long as a file of it is open (a script: until it is
 * forgotten). Counting begins at 1; 0 is never. What does not wait or fail is done on the file. */
#ifndef IMREC_STORAGE_FAULT_H
#define IMREC_STORAGE_FAULT_H

#include "imrec/error.h"

/* Name, and what it does. Every field is a uint64_t. */
#define FAULT_FIELDS(X)                                                                            \
    X(seek_ms)       /* a read that does not continue the last one takes this long */              \
    X(mb_per_s)      /* bandwidth of all readers, 10^6 bytes a second */                           \
    X(latency_us)    /* every read waits this long; such waits overlap */                          \
    X(short_bytes)   /* maximum bytes that one call moves */                                       \
    X(interrupt)     /* every n-th call is interrupted (EINTR) */                                  \
    X(read_eio)      /* this read call fails with EIO */                                           \
    X(read_dead)     /* from this read call on, all fail with EIO */                               \
    X(bad_begin)     /* pages of 4096 bytes that hold bytes from here ... */                       \
    X(bad_end)       /* ... to here cannot be read (EIO) */                                        \
    X(ends_at)       /* files end here when they are read; 0: where they end */                    \
    X(write_eio)     /* this write call fails with EIO */                                          \
    X(sync_eio)      /* this fsync() fails with EIO */                                             \
    X(rename_eio)    /* this rename() fails with EIO */                                            \
    X(folder_eio)    /* this call to open a folder, or to read an entry of one, fails with EIO */  \
    X(call_eio)      /* this call of any of these five kinds fails with EIO */                     \
    X(space)         /* bytes that can be written, then ENOSPC; 0: no limit */                     \
    X(push_kb_per_s) /* what is made durable waits for the disk: 10^3 bytes a second */            \
    X(rename_ms)     /* every rename() takes this long */

struct fault_script {
#define FAULT_FIELD(name) uint64_t name;
    FAULT_FIELDS(FAULT_FIELD)
#undef FAULT_FIELD
};

struct fault_counts {
    uint64_t reads, writes, syncs, renames, folders; /* calls */
    uint64_t bytes_read, bytes_written, seeks;
};

/* Sets or replaces a script; counters begin again. */
IMREC_NODISCARD enum imrec_status
fault_set(const char *name, const struct fault_script *s, struct imrec_error *err);
struct fault_counts fault_counts(const char *name);
void fault_forget(const char *name);
#endif
