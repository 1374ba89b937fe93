/* A set that is packed by plan, work and finish: its bytes, its damage, its faults. */
#include "base/clock.h"
#include "base/error.h"
#include "codec/mask_png.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/set/set_files.h"
#include "im2rec/tasks/heartbeat.h"
#include "tests/support/built.h"
#include "tests/support/packing_faults.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define MARK "0123456789abcdef"

static struct packing p;
static char plan[512], out[512], list[512];
static struct imrec_plan_status now;

static void name_all(const char *scheme)
{
    snprintf(plan, sizeof(plan), "%s%s/plan", scheme, p.dir.path);
    snprintf(out, sizeof(out), "%s%s/b", scheme, p.dir.path);
}

static void setup(void)
{
    tmp_in_memory();
    packing_make(&p, true);
    p.o.threads = 1;
    list[0] = '\0';
    name_all("");
}

static void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static enum imrec_status make(uint64_t tasks)
{
    const struct imrec_pack_task task = {
        .list = list[0] != '\0' ? list : NULL, .root = p.source, .out = out};
    return imrec_plan_make(plan, &task, &p.o, tasks, &now, &p.err);
}

static enum imrec_status make_again(uint64_t tasks)
{
    const struct imrec_pack_task task = {.root = p.source, .out = out};
    return imrec_plan_continue(plan, &task, &p.o, tasks, &p.err);
}

static enum imrec_status work(uint64_t k)
{
    struct imrec_plan_run run;
    imrec_plan_run_init(&run);
    run.threads = 1;
    return imrec_plan_work(plan, k, &run, &p.result, &p.err);
}

static enum imrec_status finish(void)
{
    return imrec_plan_finish(plan, NULL, &p.result, &p.err);
}

static void expect_ok(enum imrec_status st)
{
    ck_assert_msg(st == IMREC_OK, "%d: %s", (int)st, p.err.message);
}

static void expect_error(enum imrec_status st, enum imrec_status want, const char *words)
{
    ck_assert_msg(st == want && strstr(p.err.message, words) != NULL, "%d, without '%s': %s",
                  (int)st, words, p.err.message);
}

static void make_and_work(uint64_t tasks)
{
    expect_ok(make(tasks));
    for (uint64_t k = now.tasks; k > 0; k--)
        expect_ok(work(k - 1));
}

static void expect_set(void)
{
    static const char *const suffixes[] = {".rec", ".idx", ".crc"};
    char a[64], b[64];
    expect_same_file(&p, "a", "b", ".lst");
    expect_same_manifest(&p, "a", "b");
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < (p.o.shards > 1 ? p.o.shards : 1); k++) {
            snprintf(a, sizeof(a), p.o.shards > 1 ? "a-0000%d-of-00003" : "a", k);
            snprintf(b, sizeof(b), p.o.shards > 1 ? "b-0000%d-of-00003" : "b", k);
            expect_same_file(&p, a, b, suffixes[i]);
        }
}

static struct imrec_pack_result of_run;

static void pack_a(void)
{
    expect_ok(packing_run(&p, tmp_path(&p.dir, "a")));
    of_run = p.result;
}

/* What is known of a set, even if it was complete before. */
static void expect_result_of_run(void)
{
    ck_assert_uint_eq(p.result.packed, of_run.packed);
    ck_assert_uint_eq(p.result.skipped, of_run.skipped);
    ck_assert_uint_eq(p.result.total, of_run.total);
    ck_assert_uint_eq(p.result.bytes, of_run.bytes);
    ck_assert_uint_eq(p.result.shards, of_run.shards);
    ck_assert_uint_eq(p.result.classes, of_run.classes);
    ck_assert(!p.result.was_complete || p.result.resumed == of_run.total);
}

/* Below the plan's folder. */
static const char *planned(const char *name)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/plan/%s", p.dir.path, name);
    return path;
}

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

static void change(const char *path, long at, int by)
{
    FILE *f = fopen(path, "r+b");
    ck_assert(f != NULL && fseek(f, at, SEEK_SET) == 0);
    const int c = fgetc(f);
    ck_assert(c >= 0 && fseek(f, at, SEEK_SET) == 0);
    ck_assert_int_eq(fputc(c ^ by, f), c ^ by);
    ck_assert_int_eq(fclose(f), 0);
}

CASE(.timeout = 250, .setup = setup, .teardown = teardown)

/* ---- bytes ------------------------------------------------------------------------------------
 */

LOOP_TEST(any_number_of_tasks_makes_the_set_of_a_run, 0, 6)
{
    static const uint64_t tasks[] = {0, 1, 2, 9, 27, 1000};
    p.o.shards = _i % 2 * 3;
    pack_a();
    make_and_work(tasks[_i]);
    ck_assert_int_eq(now.joins, _i >= 2 || (_i == 1 && p.o.shards > 1));
    ck_assert_uint_eq(now.tasks, _i == 0                            ? 1
                                 : tasks[_i] > MADE_GOOD + MADE_BAD ? MADE_GOOD + MADE_BAD
                                                                    : tasks[_i]);
    expect_ok(finish());
    expect_set();
    expect_result_of_run();
}

/* Names that no list can hold: no task has them. */
TEST(what_the_scan_skips_is_counted_at_the_end)
{
    static const char *const names[] = {"source/00\n.jpg", "source/01\xff.jpg", "source/02\t.jpg"};
    for (int i = 0; i < COUNT(names); i++)
        tmp_write(&p.dir, names[i], "image", 5);
    pack_a();
    ck_assert_uint_ge(of_run.skipped, COUNT(names));
    make_and_work(4);
    expect_ok(finish());
    expect_set();
    expect_result_of_run();
}

TEST(tables_that_images_share_are_those_of_a_run)
{
    p.o.shared_tables = true;
    pack_a();
    make_and_work(4);
    expect_ok(finish());
    expect_set();
}

/* masks/bee/00.png ... of the images that can be packed. */
static void make_masks(void)
{
    uint16_t values[100 * 100];
    char name[64];
    struct codec *c;
    struct bytes png;
    make_folder(&p.dir, "masks");
    make_folder(&p.dir, "masks/bee");
    expect_ok(codec_new(&c, &p.err));
    for (uint32_t i = 0; i < MADE_EACH; i++) {
        const struct mask m = {
            .values = values, .width = 40 + 7 * i, .height = 90 - 5 * i - 1, .bits = 8};
        for (int k = 0; k < COUNT(values); k++)
            values[k] = (uint16_t)i;
        expect_ok(codec_encode_mask(c, &m, &png, &p.err));
        snprintf(name, sizeof(name), "masks/bee/%02u.png", i);
        tmp_write(&p.dir, name, png.p, png.n);
    }
    codec_free(c);
}

/* Tasks are worked on in other folders than the one in which the plan was made. */
LOOP_TEST(masks_lie_where_the_plan_was_made, 0, built_with_png())
{
    char was[512];
    make_masks();
    ck_assert(getcwd(was, sizeof(was)) != NULL && chdir(p.dir.path) == 0);
    p.o.masks = "masks";
    pack_a();
    ck_assert_uint_eq(of_run.packed, MADE_EACH);
    expect_ok(make(4));
    ck_assert_int_eq(chdir(was), 0);
    for (uint64_t k = 0; k < 4; k++)
        expect_ok(work(k));
    expect_ok(finish());
    expect_set();
    expect_result_of_run();
}

static struct imrec_progress last;

static bool note_progress(void *user, const struct imrec_progress *x)
{
    (void)user;
    ck_assert(x->done >= last.done && x->skipped >= last.skipped && x->bytes >= last.bytes);
    ck_assert(x->skipped <= x->done && x->done <= x->total);
    last = *x;
    return true;
}

TEST(a_finish_says_how_far_it_is)
{
    struct imrec_plan_run run;
    pack_a();
    make_and_work(4);
    imrec_plan_run_init(&run);
    run.progress = note_progress;
    expect_ok(imrec_plan_finish(plan, &run, &p.result, &p.err));
    ck_assert_uint_eq(last.done, MADE_GOOD + MADE_BAD);
    ck_assert_uint_eq(last.total, MADE_GOOD + MADE_BAD);
    ck_assert_uint_eq(last.skipped, of_run.skipped);
    ck_assert_uint_gt(last.bytes, 0);
}

/* Its card, and that of a task that was done. */
LOOP_TEST(a_task_says_what_it_has_packed, 0, 2)
{
    uint64_t packed = 0, skipped = 0, bytes = 0;
    p.o.shards = _i * 3;
    pack_a();
    expect_ok(make(_i == 0 ? 4 : 0));
    for (uint64_t k = 0; k < now.tasks; k++) {
        expect_ok(work(k));
        const struct imrec_pack_result r = p.result;
        ck_assert(!r.was_complete && r.resumed == 0 && r.total == r.packed + r.skipped);
        packed += r.packed;
        skipped += r.skipped;
        bytes += r.bytes;
        expect_ok(work(k));
        ck_assert(p.result.was_complete && p.result.total == r.total);
        ck_assert(p.result.packed == r.packed && p.result.skipped == r.skipped);
        ck_assert(p.result.bytes == r.bytes && p.result.resumed == r.total);
    }
    ck_assert_uint_eq(packed, of_run.packed);
    ck_assert_uint_eq(skipped, of_run.skipped);
    ck_assert_uint_eq(bytes, of_run.bytes);
}

TEST(a_task_and_a_finish_are_done_once)
{
    p.o.shards = 3;
    pack_a();
    make_and_work(0);
    expect_ok(work(1));
    ck_assert(p.result.was_complete);
    expect_ok(finish());
    ck_assert(!p.result.was_complete);
    expect_ok(finish());
    ck_assert(p.result.was_complete);
    expect_result_of_run();
    expect_ok(work(1));
    ck_assert(p.result.was_complete);
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert(now.finished && now.done == 3);
    expect_set();
}

TEST(a_plan_of_the_same_command_is_continued)
{
    struct stat before, after;
    pack_a();
    expect_ok(make_again(3));
    ck_assert_int_eq(stat(planned("plan"), &before), 0);
    expect_ok(work(1));
    p.o.threads = 2; /* of the run, not of the set */
    expect_ok(make_again(0));
    ck_assert_int_eq(stat(planned("plan"), &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert_uint_eq(now.done, 1);
    expect_error(make_again(4), IMREC_ERR_ARGUMENT, "its number of tasks differs");
    p.o.quality = 80;
    expect_error(make_again(3), IMREC_ERR_ARGUMENT, "its quality differs");
    p.o.quality = 95;
    expect_ok(work(0));
    expect_ok(work(2));
    expect_ok(finish());
    expect_ok(make_again(3));
    expect_set();
    ck_assert_int_eq(unlink(tmp_path(&p.dir, "b.manifest.json")), 0);
    expect_error(make_again(3), IMREC_ERR_ARGUMENT, "whose manifest is missing now: remove");
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

TEST(what_cannot_be_planned_is_refused)
{
    expect_error(make(IMREC_PLAN_TASKS_MOST + 1), IMREC_ERR_ARGUMENT, "at most 1048576");
    p.o.resume = true;
    expect_error(make(1), IMREC_ERR_ARGUMENT, "resume cannot go with a plan");
    p.o.resume = false;
    expect_ok(make(1));
    expect_error(make(1), IMREC_ERR_ARGUMENT, "is there already: a plan is made once");
    expect_error(work(1), IMREC_ERR_ARGUMENT, "has tasks 0 to 0, not 1");
    expect_error(finish(), IMREC_ERR_DATA, "1 of 1 tasks are not done: 0;");
    pack_a();
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "a"));
    snprintf(plan, sizeof(plan), "%s", tmp_path(&p.dir, "other"));
    expect_error(make(1), IMREC_ERR_ARGUMENT, "is there already; force replaces it");
    p.o.force = true;
    make_and_work(3);
    expect_ok(finish());
}

TEST(a_set_that_somebody_writes_is_not_planned)
{
    struct lock *lock;
    expect_ok(set_lock(out, &lock, &p.err));
    expect_error(make(1), IMREC_ERR_IO, "is held by");
    ck_assert(!is_there(&p, "plan"));
    lock_drop(lock);
    expect_ok(make(1));
}

TEST(missing_tasks_are_named)
{
    expect_ok(make(9));
    for (uint64_t k = 0; k < 9; k++)
        if (k % 3 == 0)
            expect_ok(work(k));
    expect_error(finish(), IMREC_ERR_DATA, "6 of 9 tasks are not done: 1, 2, 4, 5, 7, ...");
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert_uint_eq(now.done, 3);
    ck_assert_uint_eq(now.missing, 6);
    ck_assert_uint_eq(now.images_done, 9);
    ck_assert(!now.finished);
}

TEST(a_list_that_has_changed_fails_its_task_alone)
{
    expect_ok(packing_run(&p, tmp_path(&p.dir, "a")));
    snprintf(list, sizeof(list), "%s", tmp_path(&p.dir, "a.lst"));
    p.o.shards = 3;
    expect_ok(make(0));
    change(list, 1, 1);
    expect_error(work(0), IMREC_ERR_CORRUPT, "have changed since the plan was made");
    expect_ok(work(1));
    expect_ok(work(2));
    change(list, 1, 1);
    expect_ok(work(0));
    expect_ok(finish());
}

TEST(an_image_that_stops_a_run_fails_its_task)
{
    p.o.on_error = IMREC_ON_ERROR_STOP;
    expect_ok(make(27));
    uint64_t failed = 0;
    for (uint64_t k = 0; k < 27; k++)
        if (work(k) != IMREC_OK && ++failed != 0)
            ck_assert_msg(strstr(p.err.message, "on_error=skip packs the others") != NULL, "%s",
                          p.err.message);
    ck_assert_uint_eq(failed, MADE_BAD);
    expect_error(finish(), IMREC_ERR_DATA, "3 of 27 tasks are not done");
}

/* ---- a command that is given again ------------------------------------------------------------
 */

static enum imrec_status again(uint64_t tasks)
{
    const struct imrec_pack_task task = {
        .list = list[0] != '\0' ? list : NULL, .root = p.source, .out = out};
    return imrec_plan_continue(plan, &task, &p.o, tasks, &p.err);
}

TEST(the_same_command_continues_a_plan)
{
    expect_ok(again(5));
    expect_ok(work(0));
    p.o.threads = 3;
    p.o.memory = 100 << 20;
    expect_ok(again(5));
    expect_ok(again(0));
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert(now.tasks == 5 && now.done == 1);
}

/* Tasks are one an image at most, of shards as many as these. */
LOOP_TEST(more_tasks_than_images_are_those_of_the_same_command, 0, 2)
{
    p.o.shards = _i * 40;
    expect_ok(again(40));
    expect_ok(again(40));
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert_uint_eq(now.tasks, _i == 0 ? MADE_GOOD + MADE_BAD : 40);
    expect_error(again(26), IMREC_ERR_ARGUMENT, "its number of tasks differs");
    if (_i == 0)
        expect_ok(again(27));
    else
        expect_error(again(41), IMREC_ERR_ARGUMENT, "its number of tasks differs");
}

TEST(what_differs_from_another_command_is_named)
{
    char kept[512];
    expect_ok(again(5));
    expect_error(again(4), IMREC_ERR_ARGUMENT, "its number of tasks differs");
    p.o.resize = 31;
    expect_error(again(5), IMREC_ERR_ARGUMENT, "its resize differs");
    p.o.resize = 32;
    snprintf(kept, sizeof(kept), "%s", out);
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "c"));
    expect_error(again(5), IMREC_ERR_ARGUMENT, "its output differs");
    snprintf(out, sizeof(out), "%s", kept);
    snprintf(list, sizeof(list), "%s", tmp_path(&p.dir, "a.lst"));
    expect_error(again(5), IMREC_ERR_ARGUMENT, "its list differs");
    list[0] = '\0';
    snprintf(kept, sizeof(kept), "%s", p.source);
    snprintf(p.source, sizeof(p.source), "%s", p.dir.path);
    expect_error(again(5), IMREC_ERR_ARGUMENT, "its folder differs");
    snprintf(p.source, sizeof(p.source), "%.299s", kept);
    expect_ok(again(5));
}

LOOP_TEST(a_plan_is_forgotten_and_no_file_of_others, 0, 2)
{
    make_and_work(3);
    expect_ok(finish());
    if (_i == 1)
        tmp_write(&p.dir, "plan/notes.txt", "x", 1);
    expect_ok(imrec_plan_forget(plan, &p.err));
    ck_assert(!is_there(&p, "plan/plan") && !is_there(&p, "plan/finished"));
    ck_assert(is_there(&p, "plan/notes.txt") == (_i == 1));
    ck_assert(is_there(&p, "plan") == (_i == 1));
    expect_ok(imrec_plan_forget(plan, &p.err));
}

/* ---- who asks a plan to end --------------------------------------------------------------- */

static bool end_when_some_are_found(void *user, const struct imrec_progress *progress)
{
    *(uint64_t *)user = progress->found;
    return progress->found == 0;
}

/* It is told every 4,096 files. */
TEST(the_search_for_images_says_how_many_it_has_found)
{
    char name[64];
    uint64_t found = 0;
    const struct imrec_pack_task task = {
        .root = p.source, .out = out, .progress = end_when_some_are_found, .user = &found};
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "source/cow/more%d.jpg", i);
        tmp_write(&p.dir, name, "", 0);
    }
    expect_error(imrec_plan_make(plan, &task, &p.o, 3, &now, &p.err), IMREC_ERR_CANCELLED,
                 "interrupted while looking through");
    ck_assert_uint_eq(found, 4096);
    ck_assert(!is_there(&p, "plan"));
}

/* ---- workers that live, and do not ------------------------------------------------------------
 */

TEST(a_heartbeat_counts_for_a_minute)
{
    enum imrec_task_state states[3];
    expect_ok(make(3));
    tmp_write(&p.dir, "plan/task-0000000.running-" MARK, "x", 1);
    tmp_write(&p.dir, "plan/task-0000001.running-" MARK, "x", 1);
    const struct timespec old[2] = {{time(NULL) - 100, 0}, {time(NULL) - 100, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, planned("task-0000001.running-" MARK), old, 0), 0);
    expect_ok(imrec_plan_tasks(plan, 3, states, &p.err));
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
    struct fault_script script = {0};
    uint64_t failures = 0, n = 1;
    p.o.shards = _i * 3;
    pack_a();
    name_all("fault://script=packing:");
    for (bool ended = false; !ended; n++) {
        packing_plan_again(&p);
        script.call_eio = n;
        ck_assert_int_eq(fault_set("packing", &script, NULL), IMREC_OK);
        ended = all_of_it() == IMREC_OK && packing_calls_ended(n);
        failures += !ended;
        ck_assert_int_eq(fault_set("packing", &(struct fault_script){0}, NULL), IMREC_OK);
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
