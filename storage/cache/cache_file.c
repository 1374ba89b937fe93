/* storage/cache/cache_file.c - the file of a cache is made, opened, checked and locked.
 *
 *     header 4096 | index: entries of 64 bytes, by hash | places: head of 4096 bytes, block of 1
 * MiB
 *
 * One sparse file of a fixed size, not a file a block: the bound holds without counting by any
 * writer writes; a lookup is one read of 4 KiB out of the page cache, without a lock; and there are
 * no folders of 100,000 names. Writers take flock() on it, which ends with its holder; readers take
 * nothing. They trust the head of a place and its checksums, so the index is but a hint: what a
 * killed process left half done is a miss. Order of a write: place, entry, header. */
#define _GNU_SOURCE /* O_NOFOLLOW, flock() */
#include "storage/cache/cache_file.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "formats/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC         "imrecC2\n"
#define PLACE_BYTES   (HEAD_BYTES + BLOCK_BYTES)
#define OPEN_LOCK_MS  30000
#define ENTRIES_PLACE 4 /* a power of two of at least twice the places: less than four times */

_Static_assert(sizeof(struct cache_entry) == 64, "as it is in the file");
_Static_assert(sizeof(struct cache_head) == 128, "as it is in the file");
_Static_assert(sizeof(struct cache_head) + sizeof(struct cache_name) == HEAD_BYTES, "likewise");

uint64_t cache_entry_at(uint64_t entry)
{
    return HEADER_BYTES + entry * sizeof(struct cache_entry);
}

uint64_t cache_place_at(const struct cache *c, uint64_t place)
{
    return cache_entry_at(c->entries) + (place - 1) * PLACE_BYTES;
}

uint32_t cache_entry_crc(const struct cache_entry *e)
{
    return crc32c(0, e, offsetof(struct cache_entry, touched));
}

uint32_t cache_name_crc(const struct cache_name *n)
{
    const uint32_t most = (uint32_t)NAME_MOST;
    return crc32c(0, &n->bytes, sizeof(n->bytes) + (n->bytes < most ? n->bytes : most));
}

bool cache_pread(const struct cache *c, void *to, size_t n, uint64_t offset)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got = pread(c->fd, (char *)to + done, n - done, (off_t)(offset + done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool cache_pwrite(const struct cache *c, const void *p, size_t n, uint64_t offset)
{
    for (size_t done = 0; done < n;) {
        const ssize_t put = pwrite(c->fd, (const char *)p + done, n - done, (off_t)(offset + done));
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

static uint32_t header_crc(const struct cache_header *h)
{
    return crc32c(0, h, offsetof(struct cache_header, crc));
}

bool cache_read_header(const struct cache *c, struct cache_header *h)
{
    return cache_pread(c, h, sizeof(*h), 0) && memcmp(h->magic, MAGIC, sizeof(h->magic)) == 0 &&
           h->crc == header_crc(h) && h->block_bytes == BLOCK_BYTES;
}

bool cache_write_header(const struct cache *c, uint64_t used)
{
    struct cache_header h = {.bound = c->bound, .used = used, .block_bytes = BLOCK_BYTES};
    memcpy(h.magic, MAGIC, sizeof(h.magic));
    h.crc = header_crc(&h);
    return cache_pwrite(c, &h, sizeof(h), 0);
}

bool cache_lock(const struct cache *c, uint32_t milliseconds)
{
    const uint64_t end = clock_ns() + (uint64_t)milliseconds * 1000000u;
    while (flock(c->fd, LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || clock_ns() >= end)
            return false;
        clock_sleep_ms(1);
    }
    return true;
}

void cache_unlock(const struct cache *c)
{
    (void)flock(c->fd, LOCK_UN);
}

void cache_turn_off(struct cache *c, int error)
{
    if (!atomic_exchange(&c->off, true))
        imrec_log(IMREC_LOG_WARNING, "%.300s: %s; what it has is used, nothing more is kept",
                  c->path, strerror(error));
}

/* ---- opening ----------------------------------------------------------------------------- */

static void shape(struct cache *c, uint64_t bound)
{
    c->bound = bound;
    c->places = (bound - HEADER_BYTES) / (PLACE_BYTES + ENTRIES_PLACE * sizeof(struct cache_entry));
    c->entries = 1;
    while (c->entries < 2 * c->places)
        c->entries *= 2;
}

static enum imrec_status failed(const struct cache *c, const char *what, struct imrec_error *err)
{
    const int e = errno;
    imrec_fail(err, IMREC_ERR_IO, "cache: %.300s: %s: %s", c->path, what, strerror(e));
    imrec_error_errno(err, e);
    return IMREC_ERR_IO;
}

/* The file gets its whole length, without a byte on the disk. */
static enum imrec_status stretch(const struct cache *c, struct imrec_error *err)
{
    const uint64_t all = cache_place_at(c, c->places + 1);
    struct rlimit most;
    struct stat s;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < all)
        return IMREC_REFUSE(err,
                            "cache_size: files of this process may have %llu bytes (ulimit -f), "
                            "the cache in %.300s %" PRIu64,
                            (unsigned long long)most.rlim_cur, c->path, all);
    if (fstat(c->fd, &s) != 0 || ((uint64_t)s.st_size < all && ftruncate(c->fd, (off_t)all) != 0))
        return failed(c, "it cannot have its size", err);
    return IMREC_OK;
}

static enum imrec_status make_file(struct cache *c, uint64_t bytes, struct imrec_error *err)
{
    shape(c, bytes != 0 ? bytes : CACHE_BYTES);
    IMREC_TRY(stretch(c, err));
    return cache_write_header(c, 0) ? IMREC_OK : failed(c, "its header cannot be written", err);
}

/* Of a process that was killed before it wrote the header: nothing but zeros. */
static bool is_blank(const struct cache *c, uint64_t size)
{
    char head[sizeof(struct cache_header)] = {0}, zeros[sizeof(head)] = {0};
    return size == 0 || (size > HEADER_BYTES && cache_pread(c, head, sizeof(head), 0) &&
                         memcmp(head, zeros, sizeof(head)) == 0);
}

static enum imrec_status open_locked(struct cache *c, uint64_t bytes, struct imrec_error *err)
{
    struct cache_header h;
    struct stat s;
    if (fstat(c->fd, &s) != 0)
        return failed(c, "it cannot be looked at", err);
    if (!S_ISREG(s.st_mode))
        return IMREC_REFUSE(err, "cache: %.300s is no regular file", c->path);
    if (is_blank(c, (uint64_t)s.st_size))
        return make_file(c, bytes, err);
    if (!cache_read_header(c, &h) || h.bound < CACHE_BYTES_MIN || h.bound > INT64_MAX)
        return IMREC_REFUSE(err,
                            "cache: %.300s is not a cache of this version, or is damaged; remove "
                            "it, or give another folder",
                            c->path);
    if (bytes != 0 && bytes != h.bound && h.used == 0) /* it was emptied */
        return ftruncate(c->fd, 0) == 0 ? make_file(c, bytes, err)
                                        : failed(c, "it cannot have another size", err);
    if (bytes != 0 && bytes != h.bound)
        return IMREC_REFUSE(
            err,
            "cache_size is %" PRIu64 ", but %.300s was made for %" PRIu64
            " bytes; give that or nothing, or empty it first (imrec cache DIR --empty)",
            bytes, c->path, h.bound);
    shape(c, h.bound);
    return stretch(c, err);
}

static enum imrec_status
open_file(struct cache *c, const char *folder, bool old, uint64_t bytes, struct imrec_error *err)
{
    const int make = old ? 0 : O_CREAT;
    c->path = imrec_joined(folder, strlen(folder), "/" CACHE_FILE);
    if (c->path == NULL)
        return IMREC_NO_MEMORY(err, "no memory to open a cache");
    if (!old && mkdir(folder, 0700) != 0 && errno != EEXIST)
        return failed(c, "its folder cannot be made", err);
    c->fd = open(c->path, O_RDWR | make | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (c->fd < 0)
        return failed(c, "it cannot be opened", err);
    if (!cache_lock(c, OPEN_LOCK_MS))
        return failed(c, "it cannot be locked", err);
    const enum imrec_status st = open_locked(c, bytes, err);
    cache_unlock(c);
    return st;
}

static enum imrec_status
open_any(const char *folder, bool old, uint64_t bytes, struct cache **out, struct imrec_error *err)
{
    struct cache *c = imrec_zalloc(1, sizeof(*c));
    *out = NULL;
    if (c == NULL)
        return IMREC_NO_MEMORY(err, "no memory to open a cache");
    c->fd = -1;
    mutex_init(&c->lock);
    const enum imrec_status st = open_file(c, folder, old, bytes, err);
    if (st != IMREC_OK)
        cache_close(c);
    else
        *out = c;
    return st;
}

enum imrec_status cache_open_old(const char *folder, struct cache **out, struct imrec_error *err)
{
    return open_any(folder, true, 0, out, err);
}

enum imrec_status
cache_open(const char *folder, uint64_t bytes, struct cache **out, struct imrec_error *err)
{
    *out = NULL;
    if (bytes != 0 && (bytes < CACHE_BYTES_MIN || bytes > INT64_MAX))
        return IMREC_REFUSE(err,
                            "cache_size must be at least %" PRIu64 " bytes, or 0, not %" PRIu64,
                            CACHE_BYTES_MIN, bytes);
    return open_any(folder, false, bytes, out, err);
}

void cache_close(struct cache *c)
{
    if (c == NULL)
        return;
    if (c->fd >= 0)
        (void)close(c->fd);
    mutex_destroy(&c->lock);
    IMREC_FREE(c->victims, c->mine, c->path, c);
}

void cache_totals(const struct cache *c, struct cache_totals *out)
{
    *out = (struct cache_totals){.store_bytes = c->store_bytes,
                                 .store_reads = c->store_reads,
                                 .cache_bytes = c->cache_bytes,
                                 .broken_blocks = c->broken_blocks};
}
