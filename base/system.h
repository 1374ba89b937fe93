/* base/system.h - calls that systems name differently, or have in part. Thread-safe, all of them.
 */
#ifndef IMREC_BASE_SYSTEM_H
#define IMREC_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Overwrites a secret, also one that nobody reads again. */
void system_wipe(void *p, size_t n);
/* Numbers nobody can guess, of at most 256 bytes; false with errno where there are none. */
bool system_random(void *p, size_t n);
/* When the file's bytes were last changed: ns since 1970, 0 before it. */
uint64_t system_changed_ns(const struct stat *s);
/* What was written to fd is on the disk: 0, or -1 with errno. */
int system_sync(int fd);
/* The name `path`, of a file or a folder ("runs/1/"), is on the disk: its folder is synced, by
 * `sync` if it is given. Some file systems cannot sync a folder: no error. Slashes at the end of
 * `path` are cut off; the rest is as before. 0, or -1 with errno. */
int system_sync_folder_of(char *path, int (*sync)(void *user, int fd), void *user);
enum system_advice { SYSTEM_WILL_NEED, SYSTEM_NO_NEED };
/* What the page cache is to do with bytes of a file: a wish, which not every system knows. */
void system_advise(int fd, off_t offset, off_t n, enum system_advice what);
/* A stream socket, or the next client of one that listens: not waited for, and closed in programs
 * that are started. -1 with errno. */
int system_socket(int family);
int system_accept(int listener);
#endif
