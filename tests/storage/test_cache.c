/* tests/storage/test_cache.c - a cache on disk gives the bytes of the version that is asked for, or
 * none; it never grows over its bound, and what was killed, damaged or is full costs reads alone.
 */
#include "base/alloc.h"
#include "storage/cache/cache.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, OBJECT = 5 * MIB + 12345 };

static struct tmpdir dir;
static struct imrec_error err;

/* ---- a store whose reads are counted ----------------------------------------------------- */

struct made { /* byte i is that of a formula with `version` */
    struct source base;
    unsigned version;
};
static uint64_t store_bytes;

static uint8_t byte_of(unsigned version, uint64_t i)
{
    return (uint8_t)(i * 131 + i / 257 + version * 89);
}

static enum imrec_status
made_read(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *e)
{
    (void)e;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = byte_of(((struct made *)s)->version, offset + i);
    __atomic_fetch_add(&store_bytes, n, __ATOMIC_RELAXED);
    return IMREC_OK;
}

static void made_close(struct source *s)
{
    free(s);
}

static struct source *object(struct cache *c, const char *uri, unsigned version, uint64_t size)
{
    static const struct source_ops ops = {.read_at = made_read, .close = made_close};
    static const char *const identity[] = {"\"v0\"", "\"v1\"", "\"v2\""};
    struct made *m = malloc(sizeof(*m));
    struct source *s;
    *m = (struct made){{.size = size, .ops = &ops, .identity = identity[version]}, version};
    ck_assert_int_eq(cache_source_open(c, uri, &m->base, &s, &err), IMREC_OK);
    return s;
}

static struct cache *folder(uint64_t bytes)
{
    struct cache *c;
    ck_assert_msg(cache_open(tmp_path(&dir, "cache"), bytes, &c, &err) == IMREC_OK, "%s",
                  err.message);
    return c;
}

static void check(struct source *s, unsigned version, uint64_t offset, size_t n)
{
    uint8_t *got = malloc(n + 1);
    ck_assert_int_eq(source_read(s, offset, got, n, &err), IMREC_OK);
    for (size_t i = 0; i < n; i++)
        if (got[i] != byte_of(version, offset + i))
            ck_abort_msg("byte %zu of %zu at %llu", i, n, (unsigned long long)offset);
    free(got);
}

/* All of an object in steps; how many bytes the store was asked for. */
static uint64_t
sweep(struct cache *c, const char *uri, unsigned version, uint64_t size, size_t step)
{
    struct source *s = object(c, uri, version, size);
    const uint64_t before = store_bytes;
    for (uint64_t at = 0; at < size; at += step)
        check(s, version, at, size - at < step ? (size_t)(size - at) : step);
    source_close(s);
    return store_bytes - before;
}

static void setup(void)
{
    dir = tmpdir_make();
    store_bytes = 0;
}

static void teardown(void)
{
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *file(void)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/cache/" CACHE_FILE, dir.path);
    return path;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(a_second_sweep_and_a_second_opening_ask_the_store_for_nothing)
{
    static const size_t steps[] = {OBJECT, 100000, 3 * MIB, MIB};
    struct cache *c = folder(16 * MIB);
    ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, 70000), OBJECT);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, steps[i]), 0);
    cache_close(c);
    c = folder(0);
    ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, 999999), 0);
    ck_assert_uint_eq(sweep(c, "b", 0, OBJECT, OBJECT), OBJECT); /* another name */
    struct cache_totals t;
    cache_totals(c, &t);
    ck_assert_uint_eq(t.store_reads, 1); /* missing blocks are one read */
    ck_assert_uint_eq(t.cache_bytes, OBJECT);
    cache_close(c);
}

TEST(a_hole_between_kept_blocks_is_read_alone)
{
    struct cache *c = folder(16 * MIB);
    struct source *s = object(c, "a", 0, OBJECT);
    check(s, 0, MIB + 5, 1);
    check(s, 0, 3 * MIB + 5, 1);
    store_bytes = 0;
    check(s, 0, 0, OBJECT);
    ck_assert_uint_eq(store_bytes, OBJECT - 2 * MIB);
    source_close(s);
    cache_close(c);
}

TEST(another_version_is_never_mixed_in)
{
    struct cache *c = folder(16 * MIB);
    struct source *old = object(c, "a", 0, OBJECT);
    check(old, 0, 0, 2 * MIB);
    ck_assert_uint_eq(sweep(c, "a", 1, OBJECT, OBJECT), OBJECT);
    check(old, 0, 0, OBJECT);
    ck_assert_uint_eq(sweep(c, "a", 1, OBJECT - 1, OBJECT), OBJECT - 1); /* its size alone */
    source_close(old);
    cache_close(c);
}

TEST(what_does_not_fit_is_kept_in_part_and_stays)
{
    enum { LARGE = 24 * MIB };
    struct cache *c = folder(8 * MIB);
    uint64_t last = sweep(c, "a", 0, LARGE, 300000);
    ck_assert_uint_ge(last, LARGE);
    for (int i = 0; i < 3; i++) {
        last = sweep(c, "a", 0, LARGE, 300000);
        ck_assert_uint_le(last, LARGE - 7 * MIB);
    }
    ck_assert_int_le(tmp_size(file()), 8 * MIB);
    cache_close(c);
}

TEST(a_new_version_takes_the_places_of_the_old_one)
{
    struct cache *c = folder(8 * MIB);
    ck_assert_uint_eq(sweep(c, "a", 0, 7 * MIB, MIB), 7 * MIB);
    cache_close(c);
    c = folder(0);
    ck_assert_uint_eq(sweep(c, "a", 1, 7 * MIB, MIB), 7 * MIB);
    ck_assert_uint_eq(sweep(c, "a", 1, 7 * MIB, MIB), 0);
    ck_assert_uint_eq(sweep(c, "b", 1, MIB, MIB), MIB); /* nothing is idle: it finds no place */
    ck_assert_uint_eq(sweep(c, "a", 1, 7 * MIB, MIB), 0);
    cache_close(c);
}

LOOP_TEST(a_bit_that_flips_anywhere_is_read_again, 0, 40)
{
    struct cache *c = folder(8 * MIB);
    ck_assert_uint_eq(sweep(c, "a", 0, 7 * MIB, MIB), 7 * MIB);
    const int fd = open(file(), O_RDWR);
    const off_t size = lseek(fd, 0, SEEK_END);
    for (off_t at = 4096 + _i * 7; at < size; at += 40009) {
        uint8_t b;
        ck_assert_int_eq(pread(fd, &b, 1, at), 1);
        b ^= (uint8_t)(1 << _i % 8);
        ck_assert_int_eq(pwrite(fd, &b, 1, at), 1);
    }
    ck_assert_uint_gt(sweep(c, "a", 0, 7 * MIB, 500000), 0);
    sweep(c, "a", 0, 7 * MIB, MIB);
    close(fd);
    cache_close(c);
}

TEST(eight_processes_stay_within_the_bound)
{
    pid_t child[8];
    for (int i = 0; i < 8; i++)
        if ((child[i] = fork()) == 0) {
            struct cache *c = folder(8 * MIB);
            char name[2] = {(char)('a' + i % 3), '\0'};
            for (int k = 0; k < 2; k++)
                sweep(c, name, (unsigned)i % 2, OBJECT, 700000);
            cache_close(c);
            _exit(0);
        }
    for (int i = 0, status; i < 8; i++) {
        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert_int_eq(status, 0);
    }
    struct stat s;
    ck_assert_int_eq(stat(file(), &s), 0);
    ck_assert_int_le(s.st_size, 8 * MIB);
    ck_assert_int_le(s.st_blocks * 512, 8 * MIB);
}

TEST(killed_at_any_moment_it_goes_on)
{
    for (int i = 0; i < 60; i++) {
        const pid_t child = fork();
        if (child == 0) {
            struct cache *c = folder(8 * MIB);
            for (unsigned k = 0;; k++)
                sweep(c, "a", (k + (unsigned)i) % 3, OBJECT, MIB);
        }
        nanosleep(&(struct timespec){.tv_nsec = 300000L * (i + 1)}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        struct cache *c = folder(8 * MIB);
        sweep(c, "a", (unsigned)i % 3, OBJECT, 600000); /* right, whoever wrote what */
        ck_assert_uint_eq(sweep(c, "a", (unsigned)i % 3, OBJECT, 600000), 0);
        cache_close(c);
    }
}

TEST(a_full_disk_stops_keeping_and_nothing_else)
{
    struct cache *c = folder(8 * MIB);
    struct rlimit limit, small;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 3 * MIB;
    setrlimit(RLIMIT_FSIZE, &small); /* writes behind it fail, as on a disk without space */
    ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, MIB), OBJECT);
    const uint64_t again = sweep(c, "a", 0, OBJECT, MIB);
    ck_assert_uint_lt(again, OBJECT);
    ck_assert_uint_gt(again, 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    cache_close(c);
}

/* A real one: a file system of 6 MiB in memory, which root alone may mount. */
TEST(a_disk_that_is_full_stops_keeping_and_nothing_else)
{
    enum { LARGE = 15 * MIB };
    mkdir(tmp_path(&dir, "cache"), 0700);
    if (mount("tmpfs", tmp_path(&dir, "cache"), "tmpfs", 0, "size=6m") != 0) {
        printf("skipped: no file system can be mounted here (%s)\n", strerror(errno));
        return;
    }
    struct cache *c = folder(32 * MIB);
    ck_assert_uint_eq(sweep(c, "a", 0, LARGE, MIB), LARGE);
    const uint64_t again = sweep(c, "a", 0, LARGE, MIB);
    ck_assert_uint_le(again, LARGE - 4 * MIB);
    ck_assert_uint_gt(again, 0);
    cache_close(c);
    c = folder(0); /* the next process finds it full, too */
    ck_assert_uint_le(sweep(c, "a", 0, LARGE, MIB), LARGE - 4 * MIB);
    cache_close(c);
    ck_assert_int_eq(umount(tmp_path(&dir, "cache")), 0);
}

TEST(files_of_others_and_other_bounds_are_refused)
{
    struct cache *c = folder(8 * MIB);
    sweep(c, "a", 0, 1, 1);
    cache_close(c);
    ck_assert_int_eq(cache_open(tmp_path(&dir, "cache"), 9 * MIB, &c, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "was made for 8388608 bytes"));
    ck_assert_int_eq(cache_open(tmp_path(&dir, "cache"), MIB, &c, &err), IMREC_ERR_ARGUMENT);
    tmp_write(&dir, "cache/" CACHE_FILE, "my notes", 8);
    ck_assert_int_eq(cache_open(tmp_path(&dir, "cache"), 0, &c, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(tmp_size(file()), 8);
    ck_assert_int_eq(cache_open(tmp_path(&dir, "no/folder"), 0, &c, &err), IMREC_ERR_IO);
}

/* ---- what people see --------------------------------------------------------------------- */

TEST(objects_are_listed_by_names_without_secrets)
{
    static const char *const uris[][2] = {
        {"https://me:secret@host/b.rec?sig=secret", "https://host/b.rec"},
        {"s3://bucket/a?b.rec", "s3://bucket/a?b.rec"},
        {"https://host/a\nb@c\033[m", "https://host/a?b@c?[m"},
    };
    struct cache_contents seen;
    struct cache *c = folder(16 * MIB);
    for (int i = 0; i < COUNT(uris); i++)
        ck_assert_uint_eq(sweep(c, uris[i][0], 0, MIB + 5 + (unsigned)i, MIB),
                          MIB + 5 + (unsigned)i);
    ck_assert_int_eq(cache_contents_read(tmp_path(&dir, "cache"), true, &seen, &err), IMREC_OK);
    ck_assert_uint_eq(seen.count, 3);
    ck_assert_uint_eq(seen.blocks, 6);
    ck_assert_uint_eq(seen.bytes, 3 * (MIB + 5) + 3);
    ck_assert_uint_eq(seen.bound, 16 * MIB);
    ck_assert_uint_eq(seen.broken, 0);
    ck_assert_str_eq(seen.kept[0].name, uris[2][1]); /* in the order of names */
    ck_assert_str_eq(seen.kept[1].name, uris[0][1]);
    ck_assert_str_eq(seen.kept[2].name, uris[1][1]);
    ck_assert_uint_eq(seen.kept[1].bytes, MIB + 5);
    cache_contents_free(&seen);
    cache_close(c);
    ck_assert_int_eq(cache_contents_read(dir.path, true, &seen, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ENOENT);
}

TEST(looking_into_a_cache_needs_its_header_and_memory)
{
    struct cache_contents seen;
    struct cache *c = folder(8 * MIB);
    sweep(c, "a", 0, 2 * MIB, MIB);
    sweep(c, "b", 0, 2 * MIB, MIB);
    cache_close(c);
    STARVING(s)
    {
        s.st = cache_contents_read(tmp_path(&dir, "cache"), true, &seen, &err);
        cache_contents_free(&seen);
    }
    const int fd = open(file(), O_RDWR);
    ck_assert_int_eq(pwrite(fd, "????", 4, 0), 4);
    close(fd);
    ck_assert_int_ne(cache_contents_read(tmp_path(&dir, "cache"), true, &seen, &err), IMREC_OK);
    ck_assert_int_ne(cache_empty(tmp_path(&dir, "cache"), &err), IMREC_OK);
}

TEST(a_check_finds_the_flipped_bit)
{
    struct cache_contents seen;
    struct cache *c = folder(8 * MIB);
    sweep(c, "a", 0, OBJECT, MIB);
    cache_close(c);
    const int fd = open(file(), O_RDWR);
    ck_assert_int_eq(pwrite(fd, "?", 1, 4 * MIB), 1);
    close(fd);
    ck_assert_int_eq(cache_contents_read(tmp_path(&dir, "cache"), false, &seen, &err), IMREC_OK);
    ck_assert_uint_eq(seen.broken, 0);
    cache_contents_free(&seen);
    ck_assert_int_eq(cache_contents_read(tmp_path(&dir, "cache"), true, &seen, &err), IMREC_OK);
    ck_assert_uint_eq(seen.broken, 1);
    ck_assert_uint_eq(seen.kept[0].broken, 1);
    ck_assert_uint_eq(seen.blocks, 6);
    cache_contents_free(&seen);
}

TEST(an_emptied_cache_frees_the_disk_and_is_used_on)
{
    struct cache_contents seen;
    struct cache *c = folder(8 * MIB);
    sweep(c, "a", 0, OBJECT, MIB);
    tmp_write(&dir, "cache/notes", "mine", 4);
    ck_assert_int_eq(cache_empty(tmp_path(&dir, "cache"), &err), IMREC_OK);
    ck_assert_int_eq(cache_contents_read(tmp_path(&dir, "cache"), true, &seen, &err), IMREC_OK);
    ck_assert_uint_eq(seen.count + seen.broken, 0);
    ck_assert_uint_eq(seen.bound, 8 * MIB);
    ck_assert_uint_lt(seen.disk_bytes, MIB);
    cache_contents_free(&seen);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "cache/notes")), 4);
    ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, MIB), OBJECT);
    ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, MIB), 0);
    ck_assert_int_eq(cache_empty(tmp_path(&dir, "cache"), &err), IMREC_OK);
    struct cache *other = folder(5 * MIB); /* and only then of another size */
    ck_assert_int_le(tmp_size(file()), 5 * MIB);
    ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, MIB), OBJECT); /* it writes there no more */
    ck_assert_uint_eq(sweep(c, "a", 0, OBJECT, MIB), OBJECT);
    ck_assert_int_le(tmp_size(file()), 5 * MIB);
    sweep(other, "a", 0, OBJECT, MIB);
    ck_assert_uint_le(sweep(other, "a", 0, OBJECT, MIB), OBJECT - 3 * MIB);
    cache_close(other);
    cache_close(c);
}
