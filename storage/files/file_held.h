/* storage/files/file_held.h - descriptors of files that are read: of very many not all stay open.
 *
 * A process may have few (`ulimit -n`, often 1024), a set very many shards. The files that were
 * opened first keep theirs, up to half of the limit. Of the others those read last stay open,
 * up to an eighth; the rest is opened again when it is read, and refused if it is another file by
 * then, or was written to. */
#ifndef IMREC_STORAGE_FILES_FILE_HELD_H
#define IMREC_STORAGE_FILES_FILE_HELD_H

#include "imrec/error.h"

#include <sys/stat.h>

struct file_held {
    int fd;     /* -1: it is closed meanwhile */
    char *path; /* absolute: what is opened again; NULL: the descriptor is kept */
    struct stat opened;
    uint32_t users;                  /* threads that read it */
    bool idle;                       /* open, and nobody reads it */
    struct file_held *older, *newer; /* idle ones */
};

/* Takes over the descriptor of a regular file, which `info` describes; it is closed on failure. */
IMREC_NODISCARD enum imrec_status file_held_begin(struct file_held *h, int fd, const char *path,
                                                  const struct stat *info, struct imrec_error *err);
/* *fd may be read, by any number of threads, until each has given it back. */
IMREC_NODISCARD enum imrec_status
file_held_take(struct file_held *h, int *fd, struct imrec_error *err);
void file_held_give(struct file_held *h);
void file_held_end(struct file_held *h); /* nobody may have it */
#endif
