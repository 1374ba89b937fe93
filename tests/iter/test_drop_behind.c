/* tests/iter/test_drop_behind.c - what has been read leaves the page cache, or stays in it. */
#include "base/alloc.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS = 4000 };

static struct tmpdir dir;
static const char *path;
static const struct imrec_error no_file = {.message = "the shard cannot be mapped"};

/* Pages of the file in the page cache, and how many it has. */
static size_t resident(size_t *all)
{
    struct stat info;
    size_t in = 0;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int fd = open(path, O_RDONLY);
    must(fd >= 0 && fstat(fd, &info) == 0 ? IMREC_OK : IMREC_ERR_IO, &no_file);
    const size_t bytes = (size_t)info.st_size, pages = (bytes + page - 1) / page;
    unsigned char *in_core = malloc(pages);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    must(map != MAP_FAILED && mincore(map, bytes, in_core) == 0 ? IMREC_OK : IMREC_ERR_IO,
         &no_file);
    for (size_t i = 0; i < pages; i++)
        in += in_core[i] & 1;
    munmap(map, bytes);
    free(in_core);
    close(fd);
    *all = pages;
    return in;
}

static void read_sweep(bool drop)
{
    char rec[600];
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch b;
    struct imrec_error err;
    enum imrec_status st;
    snprintf(rec, sizeof(rec), "%s", path);
    imrec_iter_options_init(&o);
    o.path_imgrec = rec;
    o.data_shape = (struct imrec_shape){3, 8, 8};
    o.batch_size = 100;
    o.drop_behind = drop;
    o.preprocess_threads = 2;
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s", err.message);
    while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK)
        continue;
    ck_assert_int_eq(st, IMREC_END);
    imrec_iter_close(it);
}

/* Whether this file system drops pages at all: one in memory does not. */
static bool can_drop(void)
{
    size_t all;
    const int fd = open(path, O_RDONLY);
    const bool asked =
        fd >= 0 && fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    if (fd >= 0)
        close(fd);
    return asked && resident(&all) == 0;
}

static void drop(void)
{
    tmpdir_remove(&dir);
}

static bool make(void)
{
    dir = tmpdir_make();
    path = tmp_path(&dir, "a.rec");
    small_shard(path, 0, RECORDS);
    if (can_drop())
        return true;
    printf("skipped: this file system keeps its pages\n");
    drop();
    return false;
}

CASE(.begin = make, .end = drop, .timeout = 60)

/* A machine short of memory takes back some pages by itself, so that they stay means most of them.
 */
TEST(what_has_been_read_is_dropped_only_when_asked)
{
    size_t all;
    read_sweep(false);
    ck_assert_uint_gt(resident(&all), all / 2);
    read_sweep(true);
    ck_assert_uint_lt(resident(&all), all / 20);
}
