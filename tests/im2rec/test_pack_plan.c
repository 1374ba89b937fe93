/* A set that is packed by plan, work and finish: its bytes, and what is refused. */
#include "codec/mask_png.h"
#include "im2rec/set/set_files.h"
#include "tests/support/built.h"
#include "tests/support/file_plans.h"
#include "tests/support/suite.h"

#include <sys/stat.h>

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

static bool stop_near_the_end(void *user, const struct imrec_progress *x)
{
    (void)user;
    return x->done + 2 < x->total || x->total == 0;
}

/* All skips are in what the first call has put: none is counted twice, or forgotten. */
LOOP_TEST(a_finish_that_continues_counts_what_was_there, 0, 2)
{
    struct imrec_plan_run run;
    p.o.shards = _i * 3;
    pack_a();
    make_and_work(_i == 0 ? 4 : 0);
    imrec_plan_run_init(&run);
    run.progress = stop_near_the_end;
    expect_error(imrec_plan_finish(plan, &run, &p.result, &p.err), IMREC_ERR_CANCELLED,
                 "finish continues");
    run.progress = note_progress;
    expect_ok(imrec_plan_finish(plan, &run, &p.result, &p.err));
    ck_assert_uint_eq(p.result.resumed, of_run.total - 2);
    ck_assert(last.resumed == p.result.resumed && last.done == last.total);
    ck_assert_uint_eq(last.skipped, of_run.skipped);
    ck_assert_uint_eq(p.result.skipped, of_run.skipped);
    expect_set();
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

TEST(the_same_command_continues_a_plan)
{
    expect_ok(make_again(5));
    expect_ok(work(0));
    p.o.threads = 3;
    p.o.memory = 100 << 20;
    expect_ok(make_again(5));
    expect_ok(make_again(0));
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert(now.tasks == 5 && now.done == 1);
}

/* Tasks are one an image at most, of shards as many as these. */
LOOP_TEST(more_tasks_than_images_are_those_of_the_same_command, 0, 2)
{
    p.o.shards = _i * 40;
    expect_ok(make_again(40));
    expect_ok(make_again(40));
    expect_ok(imrec_plan_status(plan, &now, &p.err));
    ck_assert_uint_eq(now.tasks, _i == 0 ? MADE_GOOD + MADE_BAD : 40);
    expect_error(make_again(26), IMREC_ERR_ARGUMENT, "its number of tasks differs");
    if (_i == 0)
        expect_ok(make_again(27));
    else
        expect_error(make_again(41), IMREC_ERR_ARGUMENT, "its number of tasks differs");
}

TEST(what_differs_from_another_command_is_named)
{
    char kept[512];
    expect_ok(make_again(5));
    expect_error(make_again(4), IMREC_ERR_ARGUMENT, "its number of tasks differs");
    p.o.resize = 31;
    expect_error(make_again(5), IMREC_ERR_ARGUMENT, "its resize differs");
    p.o.resize = 32;
    snprintf(kept, sizeof(kept), "%s", out);
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "c"));
    expect_error(make_again(5), IMREC_ERR_ARGUMENT, "its output differs");
    snprintf(out, sizeof(out), "%s", kept);
    snprintf(list, sizeof(list), "%s", tmp_path(&p.dir, "a.lst"));
    expect_error(make_again(5), IMREC_ERR_ARGUMENT, "its list differs");
    list[0] = '\0';
    snprintf(kept, sizeof(kept), "%s", p.source);
    snprintf(p.source, sizeof(p.source), "%s", p.dir.path);
    expect_error(make_again(5), IMREC_ERR_ARGUMENT, "its folder differs");
    snprintf(p.source, sizeof(p.source), "%.299s", kept);
    expect_ok(make_again(5));
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
