#include "base/alloc.h"
#include "storage/fault.h"
#include "storage/mem.h"
#include "storage/source.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct tmpdir dir;
static struct imrec_error err;
static uint8_t data[100000];

static void setup(void)
{
    dir = tmpdir_make();
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 131 + i / 257);
    tmp_write(&dir, "a.rec", data, sizeof(data));
}

static void teardown(void)
{
    mem_clear();
    fault_forget("test");
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *with(const char *prefix, const char *path)
{
    static char uri[1024];
    snprintf(uri, sizeof(uri), "%s%s", prefix, path);
    return uri;
}

static void check_reads(const char *uri)
{
    static const struct {
        uint64_t offset;
        size_t n;
    } ranges[] = {{0, 1}, {0, sizeof(data)}, {17, 50000}, {sizeof(data) - 1, 1}, {5, 0}};
    uint8_t got[sizeof(data)];
    struct source *s;
    ck_assert_msg(source_open(uri, &s, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(s->size, sizeof(data));
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        memset(got, 0, sizeof(got));
        source_will_need(s, ranges[i].offset, ranges[i].n);
        ck_assert_msg(source_read(s, ranges[i].offset, got, ranges[i].n, &err) == IMREC_OK, "%s",
                      err.message);
        ck_assert(memcmp(got, data + ranges[i].offset, ranges[i].n) == 0);
        source_drop(s, ranges[i].offset, ranges[i].n);
    }
    ck_assert_int_eq(source_read(s, sizeof(data), got, 1, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(source_read(s, UINT64_MAX, got, 2, &err), IMREC_ERR_ARGUMENT);
    source_will_need(s, UINT64_MAX, UINT64_MAX);
    source_close(s);
}

CASE(.setup = setup, .teardown = teardown)

TEST(every_store_gives_the_bytes_that_are_there)
{
    const char *path = tmp_path(&dir, "a.rec");
    ck_assert_int_eq(mem_put("x", data, sizeof(data), &err), IMREC_OK);
    check_reads(path);
    check_reads(with("file://", path));
    check_reads("mem://x");
    check_reads(with("fault://latency_us=1:", path));
    check_reads(with("fault://short_bytes=7000,interrupt=3:", path));
}

TEST(a_uri_of_a_file_names_its_path)
{
    ck_assert_str_eq(source_path("file:///a/b.jpg"), "/a/b.jpg");
    ck_assert_str_eq(source_path("file://b%20c.jpg"), "b%20c.jpg");
    ck_assert_str_eq(source_path("fil://b.jpg"), "fil://b.jpg");
    ck_assert_str_eq(source_path("mem://b.jpg"), "mem://b.jpg");
    ck_assert_str_eq(source_path("a/file://b.jpg"), "a/file://b.jpg");
    ck_assert_int_eq(source_check_local("file:///a", &err), IMREC_OK);
    ck_assert_int_eq(source_check_local("./s3://a", &err), IMREC_OK);
    ck_assert_int_eq(source_check_local("mem://a", &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_int_eq(source_check_local("s3://a", &err), IMREC_ERR_UNSUPPORTED);
}

static const struct {
    const char *uri;
    enum imrec_status status;
    const char *says;
} refused[] = {
    {"ftp://host/a.rec", IMREC_ERR_UNSUPPORTED, "no store knows the scheme 'ftp://'"},
    {"mem://nothing", IMREC_ERR_IO, "mem://nothing: no such object"},
    {"/nowhere/a.rec", IMREC_ERR_IO, "/nowhere/a.rec: cannot open: No such file"},
    {"/dev/null", IMREC_ERR_ARGUMENT, "/dev/null: a device or socket, not a regular file"},
    {"/tmp", IMREC_ERR_ARGUMENT, "/tmp: a directory, not a regular file"},
    {"fault://seek_ms=1", IMREC_ERR_ARGUMENT, "must be fault://options:path"},
    {"fault://seek=1:/tmp/a", IMREC_ERR_ARGUMENT, "'seek=1' is not an option"},
    {"fault://seek_ms=:/tmp/a", IMREC_ERR_ARGUMENT, "'seek_ms=' is not an option"},
    {"fault://script=none:/tmp/a", IMREC_ERR_ARGUMENT, "this script is not set"},
    {"fault://seek_ms=1:/nowhere/a", IMREC_ERR_IO, "/nowhere/a: cannot open"},
};

LOOP_TEST(what_cannot_be_opened_is_named, 0, COUNT(refused))
{
    struct source *s = (struct source *)&dir;
    ck_assert_int_eq(source_open(refused[_i].uri, &s, &err), refused[_i].status);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
    ck_assert_ptr_null(s);
}

TEST(a_pipe_is_refused_and_does_not_hang)
{
    struct source *s;
    const char *path = tmp_path(&dir, "pipe");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(source_open(path, &s, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "a named pipe, not a regular file"));
}

TEST(a_file_that_shrinks_is_an_error_with_its_name_and_the_place)
{
    struct source *s;
    uint8_t got[1000];
    const char *path = tmp_path(&dir, "a.rec");
    ck_assert_int_eq(source_open(path, &s, &err), IMREC_OK);
    ck_assert_int_eq(truncate(path, 600), 0);
    ck_assert_int_eq(source_read(s, 0, got, 600, &err), IMREC_OK);
    ck_assert_int_eq(source_read(s, 100, got, 1000, &err), IMREC_ERR_IO);
    ck_assert_uint_eq(err.offset, 600);
    ck_assert_ptr_nonnull(strstr(err.message, path));
    ck_assert_ptr_nonnull(strstr(err.message, "ends at byte 600"));
    source_close(s);
}

TEST(a_bad_sector_gives_what_is_before_it_and_names_its_place)
{
    struct source *s;
    uint8_t got[1000];
    const struct fault_script script = {.bad_begin = 5000, .bad_end = 5001};
    ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
    ck_assert_int_eq(source_open(with("fault://script=test:", tmp_path(&dir, "a.rec")), &s, &err),
                     IMREC_OK);
    ck_assert_int_eq(source_read(s, 3096, got, 1000, &err), IMREC_OK); /* up to the page */
    ck_assert_int_eq(source_read(s, 8192, got, 1000, &err), IMREC_OK); /* behind it */
    ck_assert_int_eq(source_read(s, 8191, got, 1, &err), IMREC_ERR_IO);
    ck_assert_int_eq(source_read(s, 3500, got, 1000, &err), IMREC_ERR_IO);
    ck_assert_uint_eq(err.offset, 4096);
    ck_assert_int_eq(err.sys_errno, EIO);
    source_close(s);
}

TEST(the_simulated_disk_counts_seeks_of_all_its_files)
{
    struct source *a, *b;
    uint8_t got[1000];
    const struct fault_script script = {.latency_us = 1};
    tmp_write(&dir, "b.rec", data, 5000);
    ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
    ck_assert_int_eq(source_open(with("fault://script=test:", tmp_path(&dir, "a.rec")), &a, &err),
                     IMREC_OK);
    ck_assert_int_eq(source_open(with("fault://script=test:", tmp_path(&dir, "b.rec")), &b, &err),
                     IMREC_OK);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_int_eq(source_read(a, i * 1000, got, 1000, &err), IMREC_OK);
    ck_assert_uint_eq(fault_counts("test").seeks, 1);
    ck_assert_int_eq(source_read(b, 0, got, 1000, &err), IMREC_OK);
    ck_assert_int_eq(source_read(a, 4000, got, 1000, &err), IMREC_OK);
    ck_assert_int_eq(source_read(a, 5000, got, 1000, &err), IMREC_OK);
    ck_assert_uint_eq(fault_counts("test").seeks, 3);
    ck_assert_uint_eq(fault_counts("test").reads, 7);
    source_close(a);
    source_close(b);
}

TEST(a_kept_range_is_read_once)
{
    enum { MIB = 1 << 20, BIG = 5 * MIB + 77 };
    struct source *inner, *s;
    uint8_t *big = malloc(BIG), *got = malloc(BIG);
    const struct fault_script script = {.latency_us = 1};
    for (size_t i = 0; i < BIG; i++)
        big[i] = (uint8_t)(i * 7 + i / 1000);
    tmp_write(&dir, "big", big, BIG);
    ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
    ck_assert_int_eq(source_open(with("fault://script=test:", tmp_path(&dir, "big")), &inner, &err),
                     IMREC_OK);
    ck_assert_int_eq(keep_source_open(inner, 2 * MIB + 5, UINT64_MAX, &s, &err), IMREC_OK);
    ck_assert_uint_eq(keep_source_bytes(s), 0);
    for (int sweep = 0; sweep < 3; sweep++) {
        for (size_t at = 2 * MIB; at < BIG; at += 300001) {
            const size_t n = BIG - at < 700000 ? BIG - at : 700000;
            ck_assert_int_eq(source_read(s, at, got, n, &err), IMREC_OK);
            ck_assert(memcmp(got, big + at, n) == 0);
        }
        ck_assert_uint_eq(fault_counts("test").bytes_read, BIG - 2 * MIB);
        ck_assert_uint_eq(keep_source_bytes(s), BIG - 2 * MIB);
    }
    ck_assert_int_eq(source_read(s, MIB, got, 2 * MIB, &err), IMREC_OK); /* over its border */
    ck_assert(memcmp(got, big + MIB, 2 * MIB) == 0);
    ck_assert_uint_eq(fault_counts("test").bytes_read, BIG - MIB);
    source_close(s);
    free(big);
    free(got);
}

TEST(a_kept_source_without_memory_or_with_bad_sectors_reads_from_beneath)
{
    struct source *inner, *s;
    uint8_t got[1000];
    const struct fault_script script = {.bad_begin = 50000, .bad_end = 50001};
    ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
    ck_assert_int_eq(
        source_open(with("fault://script=test:", tmp_path(&dir, "a.rec")), &inner, &err), IMREC_OK);
    ck_assert_int_eq(keep_source_open(inner, 0, UINT64_MAX, &s, &err), IMREC_OK);
    imrec_alloc_fail_after(0);
    ck_assert_int_eq(source_read(s, 100, got, 1000, &err), IMREC_OK);
    imrec_alloc_fail_after(-1);
    ck_assert_int_eq(source_read(s, 100, got, 1000, &err), IMREC_OK);
    ck_assert(memcmp(got, data + 100, 1000) == 0);
    ck_assert_int_eq(source_read(s, 48500, got, 1000, &err), IMREC_ERR_IO);
    ck_assert_uint_eq(err.offset, 49152);
    ck_assert_uint_eq(keep_source_bytes(s), 0);
    source_close(s);
}

TEST(load_reads_small_objects_whole_and_refuses_large_ones)
{
    uint8_t *p;
    size_t n;
    const char *path = tmp_path(&dir, "a.rec");
    ck_assert_int_eq(source_load(path, sizeof(data), &p, &n, &err), IMREC_OK);
    ck_assert_uint_eq(n, sizeof(data));
    ck_assert(memcmp(p, data, n) == 0 && p[n] == 0);
    imrec_free(p);
    ck_assert_int_eq(source_load(path, sizeof(data) - 1, &p, &n, &err), IMREC_ERR_LIMIT);
    ck_assert_ptr_null(p);
    for (long i = 0; i < 3; i++) { /* the n-th allocation fails */
        imrec_alloc_fail_after(i);
        ck_assert_int_eq(source_load(path, sizeof(data), &p, &n, &err), IMREC_ERR_NO_MEMORY);
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), 0);
    }
}
