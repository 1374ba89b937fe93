/* storage/files/file_store.h - local files, with the system calls in a table: the fault store puts
 * its own in between. */
#ifndef IMREC_STORAGE_FILES_FILE_STORE_H
#define IMREC_STORAGE_FILES_FILE_STORE_H

#include "storage/store/store.h"

#include <sys/stat.h>
#include <sys/types.h>

extern const struct store file_store; /* of file:// and of paths */

/* As the calls of the same name: -1 and errno. `user` is of one open file. */
struct file_calls {
    ssize_t (*pread)(void *user, int fd, void *to, size_t n, off_t offset);
    ssize_t (*pwrite)(void *user, int fd, const void *p, size_t n, off_t offset);
    void (*will_need)(void *user, int fd, off_t offset, off_t n);
    int (*fsync)(void *user, int fd);
    int (*push)(void *user, int fd, off_t offset, off_t n, bool wait); /* as struct out_ops says */
    int (*rename)(void *user, const char *from, const char *to);
    int (*folder)(void *user); /* before a folder is opened, and before each of its entries */
    void (*gone)(void *user);  /* the file is closed, or was never opened; may be NULL */
};

/* `user` belongs to the file from here on, also on failure. */
IMREC_NODISCARD enum imrec_status file_source_open(const char *path, const struct file_calls *calls,
                                                   void *user, struct source **out,
                                                   struct imrec_error *err);
IMREC_NODISCARD enum imrec_status file_out_open(const char *path, uint64_t size,
                                                const struct file_calls *calls, void *user,
                                                struct out **out, struct imrec_error *err);
/* Of a folder, of whose errors each has the errno. */
IMREC_NODISCARD enum imrec_status file_folder_open(const char *path, const struct file_calls *calls,
                                                   void *user, struct folder **out,
                                                   struct imrec_error *err);
/* sync_file_range() of Linux; elsewhere nothing, and 0. */
int file_push(void *user, int fd, off_t offset, off_t n, bool wait);
/* IMREC_ERR_ARGUMENT says what a file of this mode is instead. */
IMREC_NODISCARD enum imrec_status
file_must_be_regular(const char *path, mode_t mode, struct imrec_error *err);
/* open() of a regular file, which never waits; *out is what it is, *fd is -1 on failure. A pipe
 * without a reader gives ENXIO. */
IMREC_NODISCARD enum imrec_status
file_open_regular(const char *path, int flags, int *fd, struct stat *out, struct imrec_error *err);
/* Makes the names in the folder of `path` durable. */
IMREC_NODISCARD enum imrec_status file_sync_names(const char *path, const struct file_calls *calls,
                                                  void *user, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status file_publish(const char *path, const char *as,
                                               const struct file_calls *calls, void *user,
                                               struct imrec_error *err);
#endif
