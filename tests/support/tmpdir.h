/* tests/support/tmpdir.h - a folder of the test's own, and files in it. */
#ifndef IMREC_TESTS_TMPDIR_H
#define IMREC_TESTS_TMPDIR_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tmpdir {
    char path[256];
};

static inline struct tmpdir tmpdir_make(void)
{
    struct tmpdir d;
    const char *root = getenv("TMPDIR");
    snprintf(d.path, sizeof(d.path), "%s/imrec-test-XXXXXX", root != NULL ? root : "/tmp");
    if (mkdtemp(d.path) == NULL)
        _exit(99);
    return d;
}

/* Thousands of folders, of which none needs a disk, are made in memory where the system has such a
 * place. */
static inline void tmp_in_memory(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 1);
}

/* "folder/name", in a static buffer of 8 that take turns. */
static inline const char *tmp_path(const struct tmpdir *d, const char *name)
{
    static char paths[8][512];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", d->path, name);
    return path;
}

static inline const char *
tmp_write(const struct tmpdir *d, const char *name, const void *p, size_t n)
{
    const char *path = tmp_path(d, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || (n != 0 && fwrite(p, 1, n, f) != n) || fclose(f) != 0)
        _exit(99);
    return path;
}

/* Bytes of the file, or -1. */
static inline long tmp_size(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return -1;
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    fclose(f);
    return n;
}

static inline void tmp_remove_all(const char *path)
{
    char inner[1024];
    DIR *folder = opendir(path);
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        const int n = snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
        if (n > 0 && (size_t)n < sizeof(inner) && remove(inner) != 0)
            tmp_remove_all(inner);
    }
    if (folder != NULL)
        closedir(folder);
    (void)remove(path);
}

static inline void tmpdir_remove(const struct tmpdir *d)
{
    tmp_remove_all(d->path);
}
#endif
