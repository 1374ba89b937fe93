/* A plan of items whose files are damaged, whose storage and memory fail, whose workers are killed.
 */
#include "tests/support/item_plans.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

CASE(.timeout = 250, .setup = setup, .teardown = teardown)

static const char *planned(const char *name)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/plan/%s", p.dir.path, name);
    return path;
}

static void flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    ck_assert(f != NULL && fseek(f, at, SEEK_SET) == 0);
    const int c = fgetc(f);
    ck_assert(c >= 0 && fseek(f, at, SEEK_SET) == 0 && fputc(c ^ 1 << at % 7, f) != EOF);
    ck_assert_int_eq(fclose(f), 0);
}

LOOP_TEST(no_changed_byte_of_a_plan_gets_into_a_task, 0, 2)
{
    static const char *const files[] = {"plan", "tasks"};
    cut("5 19");
    expect_ok(make());
    const long n = tmp_size(planned(files[_i]));
    for (long at = 0; at < (_i == 0 ? n : n / 2); at++) {
        flip(planned(files[_i]), at);
        const enum imrec_status st = work(0);
        ck_assert_msg(st == IMREC_ERR_CORRUPT || st == IMREC_ERR_UNSUPPORTED ||
                          st == IMREC_ERR_ARGUMENT,
                      "byte %ld: %d, %s", at, (int)st, p.err.message);
        flip(planned(files[_i]), at);
    }
    expect_ok(work(0));
}

/* The lines of tasks are whole, and of another plan. */
TEST(lines_of_another_plan_do_not_make_a_set)
{
    cut("5 15");
    expect_ok(make());
    const struct bytes lines = read_whole(planned("tasks"));
    snprintf(plan, sizeof(plan), "%s", tmp_path(&p.dir, "other"));
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "c"));
    cut("5 19");
    expect_ok(make());
    tmp_write(&p.dir, "other/tasks", lines.p, lines.n);
    free((void *)(uintptr_t)lines.p);
    expect_error(work(1), IMREC_ERR_CORRUPT, "has at least 16 items, and had 15");
    cut("5 15");
    work_all();
    expect_error(finish(), IMREC_ERR_CORRUPT,
                 "its tasks have packed 20 images, the plan has 24: make it again");
    ck_assert(!is_there(&p, "c.manifest.json"));
}

static enum imrec_status all_of_it(void)
{
    IMREC_TRY(make());
    for (uint64_t k = 0; k < tasks; k++)
        IMREC_TRY(work(k));
    return finish();
}

LOOP_TEST(any_call_that_fails_leaves_a_plan_that_can_go_on, 0, 2)
{
    uint64_t failures = 0, n = 1;
    cut(_i == 0 ? "5 0 19" : "8 8 8");
    p.o.shards = _i * 3;
    pack_a();
    name_all("fault://script=packing:");
    for (bool ended = false; !ended; n++) {
        ended = plan_ended_before(n, all_of_it);
        failures += !ended;
        expect_ok(again());
        work_all();
        expect_ok(finish());
        expect_set();
    }
    fault_forget("packing");
    ck_assert_uint_ge(failures, 20);
}

LOOP_TEST(any_memory_that_lacks_is_an_error, 0, 4) /* _i: the call */
{
    cut("5 19");
    STARVING_SOME(a)
    {
        packing_plan_again(&p);
        imrec_alloc_fail_after(-1);
        expect_ok(count(0));
        expect_ok(count(1));
        if (_i >= 2)
            expect_ok(make());
        imrec_alloc_fail_after(a.n);
        a.st = _i == 0 ? count(1) : _i == 1 || _i == 2 ? again() : work(0);
    }
}

static void nap(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

TEST(workers_that_are_killed_anywhere_leave_their_tasks_to_others)
{
    unsigned killed = 0;
    cut("8 8 8");
    p.o.shards = 3;
    pack_a();
    expect_ok(make());
    for (unsigned i = 0; i < 24; i++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            _exit(work(i % 3) != IMREC_OK);
        nap(i);
        kill(child, SIGKILL);
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        killed += WIFSIGNALED(status);
    }
    ck_assert_uint_ge(killed, 1); /* a busy machine lets others end before they are */
    work_all();
    expect_ok(finish());
    expect_set();
}
