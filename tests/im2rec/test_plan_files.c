/* The files of a plan: workers that live, damage, calls that fail. */
#include "base/clock.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/tasks/heartbeat.h"
#include "tests/support/file_plans.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define MARK "0123456789abcdef"

/* The first file of the plan, or next to the set, whose name has `words` in it; NULL: none has. */
static const char *look_for(const char *words)
{
    static char path[700];
    static const char *const folders[] = {"plan", "."};
    for (int i = 0; i < 2; i++) {
        struct dirent *e;
        snprintf(path, sizeof(path), "%s/%s", p.dir.path, folders[i]);
        DIR *d = opendir(path);
        ck_assert(d != NULL);
        while ((e = readdir(d)) != NULL)
            if (strstr(e->d_name, words) != NULL) {
                snprintf(path, sizeof(path), "%s/%s/%.255s", p.dir.path, folders[i], e->d_name);
                break;
            }
        closedir(d);
        if (e != NULL)
            return path;
    }
    return NULL;
}

static const char *find(const char *words)
{
    const char *path = look_for(words);
    ck_assert_msg(path != NULL, "no file with %s", words);
    return path;
}

CASE(.timeout = 250, .setup = setup, .teardown = teardown)

/* ---- workers that live, and do not ------------------------------------------------------------
 */

/* By the clock of the store, or by this machine's where nothing can be written to it. */
LOOP_TEST(a_heartbeat_counts_for_a_minute, 0, 2)
{
    const struct fault_script full = {.space = 1};
    enum imrec_task_state states[3];
    expect_ok(make(3));
    tmp_write(&p.dir, "plan/task-0000000.running-" MARK, "x", 1);
    tmp_write(&p.dir, "plan/task-0000001.running-" MARK, "x", 1);
    const struct timespec old[2] = {{time(NULL) - 100, 0}, {time(NULL) - 100, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, planned("task-0000001.running-" MARK), old, 0), 0);
    ck_assert_int_eq(fault_set("packing", &full, NULL), IMREC_OK);
    name_all(_i == 0 ? "" : "fault://script=packing:");
    expect_ok(imrec_plan_tasks(plan, 3, states, &p.err));
    name_all("");
    fault_forget("packing");
    ck_assert_int_eq(states[0], IMREC_TASK_RUNNING);
    ck_assert_int_eq(states[1], IMREC_TASK_MISSING);
    ck_assert_int_eq(states[2], IMREC_TASK_MISSING);
    for (uint64_t k = 0; k < 3; k++)
        expect_ok(work(k));
    expect_ok(finish());
    ck_assert(!is_there(&p, "plan/task-0000000.running-" MARK));
}

static enum imrec_task_state state_of_task_1(void)
{
    enum imrec_task_state states[2];
    expect_ok(imrec_plan_tasks(plan, 2, states, &p.err));
    return states[1];
}

/* Whatever was in its memory before. */
TEST(a_worker_is_seen_until_its_task_ends)
{
    struct plan loaded;
    struct heartbeat beat;
    expect_ok(make(2));
    expect_ok(plan_load(plan, &loaded, &p.err));
    memset(&beat, 1, sizeof(beat));
    heartbeat_begin(&beat, &loaded, 1, MARK);
    for (int i = 0; i < 1000 && state_of_task_1() != IMREC_TASK_RUNNING; i++)
        clock_sleep_ms(10);
    ck_assert_int_eq(state_of_task_1(), IMREC_TASK_RUNNING);
    heartbeat_end(&beat);
    ck_assert_int_eq(state_of_task_1(), IMREC_TASK_MISSING);
    ck_assert(look_for("running-") == NULL && look_for("clock-") == NULL);
    plan_free(&loaded);
}

static double seconds_left(void)
{
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    return now.seconds_left;
}

/* 9 of 27 images in a minute. */
TEST(the_time_left_is_that_of_the_rate_since_the_plan_was_made)
{
    const struct timespec then[2] = {{time(NULL) - 60, 0}, {time(NULL) - 60, 0}};
    expect_ok(make(9));
    ck_assert_int_eq(utimensat(AT_FDCWD, planned("plan"), then, 0), 0);
    ck_assert_double_eq(seconds_left(), -1);
    for (uint64_t k = 0; k < 9; k++) {
        expect_ok(work(k));
        if (k == 2)
            ck_assert_msg(seconds_left() > 115 && now.seconds_left < 300, "%f", now.seconds_left);
    }
    ck_assert_double_eq(seconds_left(), 0);
    ck_assert(now.done == 9 && now.images_done == now.images && !now.finished);
    expect_ok(finish());
    ck_assert_double_eq(seconds_left(), 0);
}

TEST(only_what_a_plan_has_written_is_removed)
{
    make_and_work(3);
    tmp_write(&p.dir, "plan/notes.txt", "x", 1);
    tmp_write(&p.dir, "plan/task-list", "x", 1);
    tmp_write(&p.dir, "b.0123456789abcdef-0123456789abcdef.rec.part", "x", 1);
    expect_ok(finish());
    ck_assert(is_there(&p, "plan/notes.txt") && is_there(&p, "plan/task-list"));
    ck_assert(is_there(&p, "b.0123456789abcdef-0123456789abcdef.rec.part"));
    ck_assert(!is_there(&p, "plan/list.lst") && !is_there(&p, "plan/tasks"));
}

/* ---- damage -----------------------------------------------------------------------------------
 */

/* Every `step`-th byte in turn: finish says what is wrong, and makes no set of it. */
static void flip_all(const char *path, long step)
{
    char kept[700];
    snprintf(kept, sizeof(kept), "%s", path);
    const long n = tmp_size(kept);
    ck_assert_int_gt(n, 0);
    for (long at = 0; at < n; at += step) {
        change(kept, at, 1 << at % 7);
        const enum imrec_status st = finish();
        ck_assert_msg(st == IMREC_ERR_CORRUPT || st == IMREC_ERR_UNSUPPORTED ||
                          st == IMREC_ERR_ARGUMENT || st == IMREC_ERR_DATA,
                      "byte %ld of %s: %d, %s", at, kept, (int)st, p.err.message);
        ck_assert(!is_there(&p, "b.manifest.json"));
        change(kept, at, 1 << at % 7);
    }
}

LOOP_TEST(no_changed_byte_gets_into_a_set, 0, 6)
{
    static const char *const files[] = {"plan/plan",    "plan/classes.txt", "plan/skips",
                                        "0000002.done", "0000001.records-", "0000000.done"};
    tmp_write(&p.dir, "source/outside.jpg", "x", 1);
    pack_a();
    make_and_work(3);
    flip_all(_i < 3 ? tmp_path(&p.dir, files[_i]) : find(files[_i]), _i == 4 ? 211 : 3);
    expect_ok(finish());
    expect_set();
}

/* Whose check is right. */
TEST(a_skip_of_a_plan_that_is_too_long_is_named)
{
    char head[3 * CHECKED_HEAD_BYTES];
    struct buf line = BUF_INIT(1 << 16);
    tmp_write(&p.dir, "source/outside.jpg", "x", 1);
    make_and_work(2);
    memset(head, 's', sizeof(head));
    head[sizeof(head) - 1] = '\0';
    expect_ok(checked_line_put(&line, head, (struct bytes){NULL, 0}, &p.err));
    tmp_write(&p.dir, "plan/skips", line.p, line.n);
    buf_free(&line);
    expect_error(finish(), IMREC_ERR_CORRUPT, "'' is no skip");
}

LOOP_TEST(no_changed_byte_of_a_plan_gets_into_a_task, 0, 2)
{
    static const char *const files[] = {"list.lst", "tasks"};
    pack_a();
    expect_ok(make(1));
    const long n = tmp_size(planned(files[_i]));
    for (long at = 0; at < n; at += 3) {
        change(planned(files[_i]), at, 1 << at % 7);
        const enum imrec_status st = work(0);
        const bool moved = st == IMREC_ERR_IO && strstr(p.err.message, "its folder below") != NULL;
        ck_assert_msg(st == IMREC_ERR_CORRUPT || (_i == 0 && moved), "byte %ld: %d, %s", at,
                      (int)st, p.err.message);
        change(planned(files[_i]), at, 1 << at % 7);
    }
    expect_ok(work(0));
    expect_ok(finish());
    expect_set();
}

TEST(files_that_are_gone_or_cut_are_named)
{
    char kept[700];
    p.o.shards = 3;
    pack_a();
    make_and_work(0);
    snprintf(kept, sizeof(kept), "%s", find("b-00001-of-00003."));
    ck_assert_int_eq(truncate(kept, tmp_size(kept) - 1), 0);
    expect_error(finish(), IMREC_ERR_CORRUPT, "which task 1 has written, is missing or of another");
    ck_assert_int_eq(remove(kept), 0);
    expect_error(finish(), IMREC_ERR_CORRUPT, "task-0000001.done, and work on the task again");
    ck_assert_int_eq(remove(planned("task-0000001.done")), 0);
    expect_error(finish(), IMREC_ERR_DATA, "1 of 3 tasks are not done: 1;");
    expect_ok(work(1));
    expect_ok(finish());
    expect_set();
}

TEST(a_report_of_another_plan_is_refused)
{
    make_and_work(2);
    const struct bytes report = read_whole(planned("task-0000001.done"));
    snprintf(plan, sizeof(plan), "%s", tmp_path(&p.dir, "other"));
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "c"));
    make_and_work(2);
    tmp_write(&p.dir, "other/task-0000001.done", report.p, report.n);
    free((void *)(uintptr_t)report.p);
    expect_error(finish(), IMREC_ERR_CORRUPT, "its last line is none of this plan");
}

/* ---- faults -----------------------------------------------------------------------------------
 */

static enum imrec_status all_of_it(void)
{
    IMREC_TRY(make(p.o.shards > 1 ? 0 : 2));
    const uint64_t tasks = now.tasks;
    for (uint64_t k = 0; k < tasks; k++)
        IMREC_TRY(work(k));
    return finish();
}

/* After a failure at any call the same calls, made again, end with the same set. */
LOOP_TEST(any_call_that_fails_leaves_a_plan_that_can_go_on, 0, 2)
{
    uint64_t failures = 0, n = 1;
    p.o.shards = _i * 3;
    pack_a();
    name_all("fault://script=packing:");
    for (bool ended = false; !ended; n++) {
        ended = plan_ended_before(n, all_of_it);
        failures += !ended;
        const enum imrec_status st = make(p.o.shards > 1 ? 0 : 2);
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_ARGUMENT, "%s", p.err.message);
        for (uint64_t k = 0; k < (p.o.shards > 1 ? 3 : 2); k++)
            expect_ok(work(k));
        expect_ok(finish());
        expect_set();
        expect_result_of_run();
    }
    fault_forget("packing");
    ck_assert_uint_ge(failures, 20);
}

LOOP_TEST(any_memory_that_lacks_is_an_error, 0, 3)
{
    p.o.shards = 3 * (_i % 2);
    STARVING_SOME(s)
    {
        packing_plan_again(&p);
        imrec_alloc_fail_after(-1);
        if (_i != 0)
            expect_ok(make(0));
        for (uint64_t k = 0; _i == 2 && k < now.tasks; k++)
            expect_ok(work(k));
        imrec_alloc_fail_after(s.n);
        s.st = _i == 0 ? make(0) : _i == 1 ? work(0) : finish();
    }
}
