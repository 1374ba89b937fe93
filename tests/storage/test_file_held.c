/* tests/storage/test_file_held.c - more files than a process may have descriptors: all are read, as
 * one version each. */
#include "base/alloc.h"
#include "base/threads.h"
#include "storage/source.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILES = 150, BYTES = 3000, LIMIT = 80, READERS = 4 };

static struct tmpdir dir;
static struct imrec_error err;
static struct source *source[FILES];
static uint8_t data[FILES][BYTES];

static uint32_t descriptors(void)
{
    uint32_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 3; /* ".", "..", and that of the folder */
}

static const char *name_of(int i)
{
    static _Thread_local char name[16];
    snprintf(name, sizeof(name), "f%03d", i);
    return name;
}

static void put(int i)
{
    tmp_write(&dir, name_of(i), data[i], BYTES);
}

static void setup(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = LIMIT;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    dir = tmpdir_make();
    ck_assert_int_eq(chdir(dir.path), 0);
    for (int i = 0; i < FILES; i++) {
        for (int k = 0; k < BYTES; k++)
            data[i][k] = (uint8_t)(k * 131 + k / 257 + i * 17);
        put(i);
        ck_assert_msg(source_open(name_of(i), &source[i], &err) == IMREC_OK, "%s", err.message);
    }
    ck_assert_int_eq(chdir("/"), 0); /* names were those of another folder */
}

static void teardown(void)
{
    for (int i = 0; i < FILES; i++)
        source_close(source[i]);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

static void check(int i)
{
    uint8_t got[BYTES];
    struct imrec_error why;
    ck_assert_msg(source_read(source[i], 0, got, BYTES, &why) == IMREC_OK, "%s", why.message);
    ck_assert_int_eq(memcmp(got, data[i], BYTES), 0);
}

static void *reader(void *seed)
{
    uint64_t x = *(uint64_t *)seed;
    for (int i = 0; i < 3000; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int k = (int)((x >> 33) % FILES);
        source_will_need(source[k], 0, BYTES);
        check(k);
        if (i % 7 == 0)
            source_drop(source[k], 0, BYTES);
    }
    return NULL;
}

TEST(all_are_read_by_many_threads_with_few_descriptors)
{
    struct thread t[READERS] = {{.running = false}};
    uint64_t seed[READERS] = {1, 2, 3, 4};
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(thread_start(&t[i], "reader", reader, &seed[i], &err), IMREC_OK);
    for (int i = 0; i < READERS; i++)
        thread_join(&t[i]);
    ck_assert_uint_lt(descriptors(), LIMIT * 3 / 4); /* a half, an eighth, and its own */
}

static void check_refused(int i, int code)
{
    uint8_t got[BYTES];
    ck_assert_int_eq(source_read(source[i], 0, got, BYTES, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, code);
    ck_assert_msg(strstr(err.message, name_of(i)) != NULL, "%s", err.message);
}

TEST(another_version_is_refused_and_not_mixed_in)
{
    char from[400];
    for (int i = 0; i < FILES; i++)
        check(i); /* the last ones are open now, the first ones always */
    for (int i = 60; i < 64; i++)
        data[i][7] ^= 1;
    put(60); /* in place */
    snprintf(from, sizeof(from), "%s/f061", dir.path);
    ck_assert_int_eq(unlink(from), 0);
    tmp_write(&dir, "new", data[62], BYTES);
    snprintf(from, sizeof(from), "%s/new", dir.path);
    char *to = strdup(tmp_path(&dir, "f062"));
    ck_assert_int_eq(rename(from, to), 0);
    free(to);
    check_refused(60, ESTALE);
    check_refused(61, ENOENT);
    check_refused(62, ESTALE);
    check(64);
}
