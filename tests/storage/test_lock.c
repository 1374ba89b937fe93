/* A name is held by one call at a time, and by nobody once its process is gone, however it went. */
#include "base/alloc.h"
#include "base/threads.h"
#include "storage/lock.h"
#include "tests/support/failing_calls.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct tmpdir dir;
static struct imrec_error err;
static char path[300], file[320];

static void setup(void)
{
    dir = tmpdir_make();
    snprintf(path, sizeof(path), "%s", tmp_path(&dir, "o.lock"));
    snprintf(file, sizeof(file), "%s.part", path);
}

static void teardown(void)
{
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct lock *take(const char *uri)
{
    struct lock *l;
    ck_assert_msg(lock_take(uri, &l, &err) == IMREC_OK, "%s", err.message);
    return l;
}

static void expect_held(const char *uri)
{
    struct lock *l;
    ck_assert_int_eq(lock_take(uri, &l, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, EBUSY);
    ck_assert_ptr_null(l);
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

TEST(a_second_call_is_refused_and_told_who_holds_it)
{
    char who[64];
    struct lock *l = take(path);
    expect_held(path);
    snprintf(who, sizeof(who), "process %ld on ", (long)getpid());
    ck_assert_msg(strstr(err.message, who) != NULL, "%s", err.message);
    lock_drop(l);
    ck_assert_int_eq(tmp_size(file), -1);
    lock_drop(take(path));
}

TEST(one_file_is_one_lock_whatever_its_store)
{
    char uri[2][400];
    snprintf(uri[0], sizeof(uri[0]), "file://%s", path);
    snprintf(uri[1], sizeof(uri[1]), "fault://latency_us=0:%s", path);
    struct lock *l = take(uri[0]);
    expect_held(path);
    expect_held(uri[1]);
    lock_drop(l);
    l = take(uri[1]);
    expect_held(uri[0]);
    lock_drop(l);
}

TEST(objects_in_memory_are_locked_in_this_process)
{
    struct lock *a = take("mem://a"), *b = take("mem://b");
    expect_held("mem://a");
    lock_drop(a);
    expect_held("mem://b");
    a = take("mem://a");
    lock_drop(b);
    lock_drop(a);
}

/* A process that holds the lock until it is killed. */
static pid_t holder(void)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct lock *l;
        byte = lock_take(path, &l, NULL) == IMREC_OK;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

TEST(a_killed_process_holds_up_nobody)
{
    char who[64];
    const pid_t child = holder();
    expect_held(path);
    snprintf(who, sizeof(who), "process %ld on ", (long)child);
    ck_assert_msg(strstr(err.message, who) != NULL, "%s", err.message);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_gt(tmp_size(file), 0); /* it was left behind, */
    struct lock *l = take(path);         /* and is no lock */
    expect_held(path);
    lock_drop(l);
    ck_assert_int_eq(tmp_size(file), -1);
}

TEST(a_file_that_imrec_did_not_write_is_left_alone)
{
    struct lock *l;
    tmp_write(&dir, "o.lock.part", "notes of mine", 13);
    ck_assert_int_eq(lock_take(path, &l, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "did not write it") != NULL, "%s", err.message);
    ck_assert_int_eq(tmp_size(file), 13);
    tmp_write(&dir, "o.lock.part", "", 0); /* killed before it had written */
    lock_drop(take(path));
    ck_assert_int_eq(tmp_size(file), -1);
    ck_assert_int_eq(symlink("elsewhere", file), 0);
    ck_assert_int_eq(lock_take(path, &l, &err), IMREC_ERR_IO);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "elsewhere")), -1);
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_int_eq(mkfifo(file, 0666), 0); /* does not wait for a writer */
    ck_assert_int_eq(lock_take(path, &l, &err), IMREC_ERR_ARGUMENT);
}

TEST(a_line_that_was_not_written_to_its_end_is_in_nobodys_way)
{
    static const char line[] = "imrec lock: process 17 on a\n";
    for (size_t n = 0; n < sizeof(line); n++) {
        tmp_write(&dir, "o.lock.part", line, n);
        lock_drop(take(path));
        ck_assert_int_eq(tmp_size(file), -1);
    }
}

static const int reasons[] = {EIO, EINTR, 0};

/* Takes the lock while the n-th call fails, or is cut short. The call; NULL: it did not come to it.
 */
static const char *take_with(long n, int code, const char *there, enum imrec_status *st)
{
    struct lock *l = NULL;
    tmp_write(&dir, "o.lock.part", there, strlen(there));
    failing_call(n, code);
    *st = lock_take(path, &l, &err);
    const char *failed = failed_call();
    failing_call(0, 0);
    if (*st == IMREC_OK)
        lock_drop(l);
    return failed;
}

LOOP_TEST(a_file_that_cannot_be_read_is_left_alone, 0, COUNT(reasons)) /* _i: why not */
{
    enum imrec_status st;
    long n = 1;
    for (; take_with(n, reasons[_i], "notes of mine", &st) != NULL; n++) {
        ck_assert_int_ne(st, IMREC_OK);
        ck_assert_int_eq(tmp_size(file), 13);
    }
    ck_assert_int_gt(n, 3);
}

LOOP_TEST(a_line_is_read_on_after_an_interrupt, 1, COUNT(reasons)) /* _i: how it ended */
{
    enum imrec_status st;
    const char *call;
    int reads = 0;
    for (long n = 1;
         (call = take_with(n, reasons[_i], "imrec lock: process 17 on a\n", &st)) != NULL; n++) {
        const bool is_read = strcmp(call, "pread64") == 0;
        ck_assert_msg(!is_read || st == IMREC_OK, "%s", err.message);
        reads += is_read;
    }
    ck_assert_int_gt(reads, 0);
}

TEST(what_a_lock_file_says_cannot_break_a_line)
{
    static const char said[] = "imrec lock: \x1b[31m\xc2\x9bred\nsecond line";
    struct lock *l = take(path);
    FILE *f = fopen(file, "wb");
    fwrite(said, 1, sizeof(said), f);
    fclose(f);
    expect_held(path);
    ck_assert_msg(strstr(err.message, "?[31m??red, which") != NULL, "%s", err.message);
    lock_drop(l);
}

/* ---- many at once ------------------------------------------------------------------------- */

enum { TURNS = 150, RUNNERS = 4 };

static char tally[300];

/* Adds one to the number in a file, which is right only as long as nobody else does meanwhile. */
static bool add_one(void)
{
    struct lock *l;
    struct imrec_error why;
    while (lock_take(path, &l, &why) != IMREC_OK)
        if (why.sys_errno != EBUSY)
            return false;
    long n = 0;
    FILE *f = fopen(tally, "rb");
    if (f != NULL && fscanf(f, "%ld", &n) != 1)
        n = -1000000;
    if (f != NULL)
        fclose(f);
    f = fopen(tally, "wb");
    fprintf(f, "%ld", n + 1);
    fclose(f);
    lock_drop(l);
    return true;
}

static void *add_all(void *arg)
{
    bool *fine = arg;
    *fine = true;
    for (int i = 0; i < TURNS && *fine; i++)
        *fine = add_one();
    return NULL;
}

static void expect_tally(long want)
{
    long n = 0;
    FILE *f = fopen(tally, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%ld", &n), 1);
    fclose(f);
    ck_assert_int_eq(n, want);
    ck_assert_int_eq(tmp_size(file), -1);
}

TEST(processes_take_turns)
{
    pid_t child[RUNNERS];
    int status;
    snprintf(tally, sizeof(tally), "%s", tmp_path(&dir, "tally"));
    for (int i = 0; i < RUNNERS; i++)
        if ((child[i] = fork()) == 0) {
            bool fine;
            add_all(&fine);
            _exit(fine ? 0 : 1);
        }
    for (int i = 0; i < RUNNERS; i++) {
        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert_int_eq(status, 0);
    }
    expect_tally((long)RUNNERS * TURNS);
}

TEST(threads_take_turns)
{
    struct thread threads[RUNNERS] = {0};
    bool fine[RUNNERS];
    snprintf(tally, sizeof(tally), "%s", tmp_path(&dir, "tally"));
    for (int i = 0; i < RUNNERS; i++)
        ck_assert_int_eq(thread_start(&threads[i], "runner", add_all, &fine[i], &err), IMREC_OK);
    for (int i = 0; i < RUNNERS; i++) {
        thread_join(&threads[i]);
        ck_assert(fine[i]);
    }
    expect_tally((long)RUNNERS * TURNS);
}

TEST(memory_that_runs_out_leaves_nothing)
{
    struct lock *l;
    for (int i = 0; i < 2; i++) {
        imrec_alloc_fail_after(0);
        ck_assert_int_eq(lock_take(i == 0 ? path : "mem://a", &l, &err), IMREC_ERR_NO_MEMORY);
        imrec_alloc_fail_after(-1);
    }
    ck_assert_int_eq(tmp_size(file), -1);
}
