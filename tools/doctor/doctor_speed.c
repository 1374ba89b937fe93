/* tools/doctor/doctor_speed.c - reads a few pieces of a set, past the page cache where that can be:
 * what memory gives says nothing of the disk. */
#define _GNU_SOURCE /* O_DIRECT */
#include "tools/doctor/doctor_speed.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/pages.h"
#include "storage/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(O_DIRECT)
#define PAST_CACHE O_DIRECT
#else
#define PAST_CACHE 0
#endif

#define LONGEST_NS ((uint64_t)2000000000)
#define BLOCK      4096u /* what O_DIRECT wants offsets and sizes to be multiples of, at most */

struct opened {    /* one file at a time */
    size_t number; /* of `files`; SIZE_MAX: none */
    int fd;        /* local, past the page cache; -1: `source` */
    struct source *source;
};

static void leave(struct opened *f)
{
    if (f->fd >= 0)
        close(f->fd);
    source_close(f->source);
    *f = (struct opened){.number = SIZE_MAX, .fd = -1};
}

static enum imrec_status
enter(struct opened *f, const struct speed_file *files, size_t number, struct imrec_error *err)
{
    if (f->number == number)
        return IMREC_OK;
    leave(f);
    if (!source_is_remote(files[number].uri))
        f->fd = open(source_path(files[number].uri), O_RDONLY | O_CLOEXEC | PAST_CACHE);
    if (f->fd < 0) /* a store; or a file system without O_DIRECT */
        IMREC_TRY(source_open(files[number].uri, &f->source, err));
    f->number = number;
    return IMREC_OK;
}

/* Bytes [at, at + n) of the file; where O_DIRECT is refused when reading, the file is opened again
 * without it. */
static enum imrec_status read_piece(struct opened *f, const struct speed_file *file, uint64_t at,
                                    uint8_t *to, size_t n, struct imrec_error *err)
{
    if (f->fd >= 0) {
        const size_t blocks = (n + BLOCK - 1) / BLOCK * BLOCK; /* `to` has room, the file may end */
        ssize_t got;
        do
            got = pread(f->fd, to, blocks, (off_t)at);
        while (got < 0 && errno == EINTR);
        if (got >= (ssize_t)n)
            return IMREC_OK;
        if (got >= 0 || errno != EINVAL)
            return imrec_fail(err, IMREC_ERR_IO, "%s: cannot be read at byte %llu: %s", file->uri,
                              (unsigned long long)at, got < 0 ? strerror(errno) : "it is shorter");
        close(f->fd);
        f->fd = -1;
        IMREC_TRY(source_open(file->uri, &f->source, err));
    }
    return source_read(f->source, at, to, n, err);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The file with byte *at of all of them, which becomes a byte of it. */
static size_t file_of(const struct speed_file *files, size_t n, uint64_t *at)
{
    size_t i = 0;
    while (i + 1 < n && *at >= files[i].bytes)
        *at -= files[i++].bytes;
    return i;
}

static enum imrec_status run(const struct speed_file *files, size_t n, uint64_t total, uint8_t *to,
                             struct speed *out, struct imrec_error *err)
{
    double ms[SPEED_READS];
    struct opened f = {.number = SIZE_MAX, .fd = -1};
    enum imrec_status st = IMREC_OK;
    const uint64_t begin = clock_ns(), pieces = (total + SPEED_BYTES - 1) / SPEED_BYTES;
    const uint64_t reads = pieces < SPEED_READS ? pieces : SPEED_READS;
    for (uint64_t i = 0; i < reads && clock_ns() - begin < LONGEST_NS; i++) {
        uint64_t at = (reads == pieces ? SPEED_BYTES : total / reads) * i;
        const size_t number = file_of(files, n, &at);
        at -= at % BLOCK;
        const uint64_t left = files[number].bytes - at;
        const size_t bytes = left < SPEED_BYTES ? (size_t)left : SPEED_BYTES;
        if ((st = enter(&f, files, number, err)) != IMREC_OK)
            break;
        const uint64_t before = clock_ns();
        if ((st = read_piece(&f, &files[number], at, to, bytes, err)) != IMREC_OK)
            break;
        ms[out->reads] = 1e-6 * (double)(clock_ns() - before);
        out->seconds += 1e-3 * ms[out->reads++];
        out->bytes += bytes;
        out->direct = f.fd >= 0;
    }
    leave(&f);
    qsort(ms, out->reads, sizeof(ms[0]), by_value);
    out->median_ms = out->reads != 0 ? ms[out->reads / 2] : 0;
    out->worst_ms = out->reads != 0 ? ms[out->reads - 1] : 0;
    return st;
}

enum imrec_status
speed_measure(const struct speed_file *files, size_t n, struct speed *out, struct imrec_error *err)
{
    uint64_t total = 0;
    *out = (struct speed){0};
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(total, files[i].bytes, &total))
            return imrec_fail(err, IMREC_ERR_LIMIT, "the set has more than 2^64 bytes");
    if (total == 0)
        return IMREC_OK;
    uint8_t *to = pages_alloc(SPEED_BYTES);
    if (to == NULL)
        return IMREC_NO_MEMORY(err, "no memory to read %u bytes", SPEED_BYTES);
    const enum imrec_status st = run(files, n, total, to, out, err);
    pages_free(to, SPEED_BYTES);
    return st;
}
