/* tools/doctor/doctor_cache.c - asks mincore() which pages of a file are in memory. No page is
 * touched: the mapping only names them. */
#define _GNU_SOURCE /* mincore() */
#include "tools/doctor/doctor_cache.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES ((uint64_t)256 << 20) /* mapped at a time: 64 KiB of answers */

/* Since Linux 5.2 every page of a file that the caller neither owns nor may write counts as there.
 */
static bool is_told(const char *path, const struct stat *is)
{
    return is->st_uid == geteuid() || geteuid() == 0 || access(path, W_OK) == 0;
}

static bool
look_at(int fd, uint64_t offset, size_t n, uint64_t page, unsigned char *answers, struct cached *c)
{
    void *map = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, (off_t)offset);
    if (map == MAP_FAILED)
        return false;
    const bool told = mincore(map, n, (void *)answers) == 0;
    for (uint64_t at = 0, i = 0; told && at < n; at += page, i++)
        if ((answers[i] & 1) != 0)
            c->in_cache += n - at < page ? n - at : page;
    if (told)
        c->looked_at += n;
    (void)munmap(map, n);
    return told;
}

enum imrec_status
cached_add(const char *path, uint64_t until_ns, struct cached *c, struct imrec_error *err)
{
    struct stat is;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is not waited for */
    if (fd < 0 || fstat(fd, &is) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return imrec_fail(err, IMREC_ERR_IO, "%s: cannot be opened: %s", path, strerror(error));
    }
    const uint64_t bytes = S_ISREG(is.st_mode) ? (uint64_t)is.st_size : 0;
    unsigned char *answers = cli_realloc(NULL, WINDOW_BYTES / page, 1);
    c->bytes += bytes;
    c->unknown = c->unknown || !is_told(path, &is);
    for (uint64_t at = 0; !c->unknown && at < bytes && clock_ns() < until_ns; at += WINDOW_BYTES) {
        const uint64_t n = bytes - at < WINDOW_BYTES ? bytes - at : WINDOW_BYTES;
        if (!look_at(fd, at, (size_t)n, page, answers, c))
            c->unknown = true; /* a file system without a page cache of this kind */
    }
    cli_free(answers);
    close(fd);
    return IMREC_OK;
}
