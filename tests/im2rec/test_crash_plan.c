/* Machines that stop while a set is made whose files are in several folders: of a plan, which is
 * made, worked on and finished, or of a run that writes its report elsewhere. The set is missing,
 * refused, or that of one process, and the same commands, given again, end with it. */
#include "base/alloc.h"
#include "imrec/plan.h"
#include "tests/support/crash.h"
#include "tests/support/itemset.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

enum { ITEM_TASKS = 3, ITEMS_EACH = MADE_GOOD / ITEM_TASKS };

#define LOCK "out/b.lock.part"
#define MINE "plan/notes.txt" /* of somebody else, so that the folder stays */

static struct packing p;
static struct crash of;
static struct disk_image *calm; /* of the folder d, after one process */
static char folder[512], plan[512], out[512], report[512];
static uint64_t tasks;     /* that are asked for */
static struct itemset set; /* of which the plan is, with of_items */
static bool of_items;

/* ---- what is run ----------------------------------------------------------------------------- */

static bool is_fine(enum imrec_status st)
{
    return st == IMREC_OK;
}

static struct imrec_pack_task task_of(void)
{
    return (struct imrec_pack_task){.root = p.source, .out = out};
}

static bool run_pack(void)
{
    const struct imrec_pack_task task = task_of();
    set.source.total = MADE_GOOD;
    if (of_items)
        return is_fine(itemset_run(&set, out));
    return is_fine(imrec_pack(&task, &p.o, &p.result, &p.err));
}

/* The source has the items of task k from here on. */
static void give(uint64_t k)
{
    set.source.total = 0;
    set.next = k * ITEMS_EACH;
    set.count = set.next + ITEMS_EACH;
}

static bool make_of_items(void)
{
    const struct imrec_pack_task task = task_of();
    struct imrec_plan_items counted[ITEM_TASKS];
    for (uint64_t k = 0; k < ITEM_TASKS; k++) {
        give(k);
        if (!is_fine(imrec_plan_count_items(&set.source, &counted[k], &p.err)))
            return false;
    }
    return is_fine(
        imrec_plan_continue_items(plan, &task, &set.source, &p.o, counted, ITEM_TASKS, &p.err));
}

static bool run_make(void)
{
    const struct imrec_pack_task task = task_of();
    if (of_items)
        return make_of_items();
    return is_fine(imrec_plan_continue(plan, &task, &p.o, tasks, &p.err));
}

/* In another order than that of the set. */
static bool run_work(void)
{
    struct imrec_plan_status now;
    struct imrec_plan_run run;
    imrec_plan_run_init(&run);
    run.threads = 1;
    bool good = is_fine(imrec_plan_status(plan, &now, &p.err));
    for (uint64_t k = good ? now.tasks : 0; good && k > 0; k--) {
        give(k - 1);
        good = is_fine(
            of_items ? imrec_plan_work_items(plan, k - 1, &set.source, &run, &p.result, &p.err)
                     : imrec_plan_work(plan, k - 1, &run, &p.result, &p.err));
    }
    return good;
}

static bool run_finish(void)
{
    return is_fine(imrec_plan_finish(plan, NULL, &p.result, &p.err));
}

static bool run_forget(void)
{
    return is_fine(imrec_plan_forget(plan, &p.err));
}

/* ---- what is asked of each state ------------------------------------------------------------- */

static bool verifies(const char *path)
{
    return packing_verifies(&p, path);
}

static void look(struct crash *c, const struct disk_image *now)
{
    crash_check_set(c, now, "out/b.manifest.json", verifies);
}

static bool is_known(const struct disk_image *end, const char *name)
{
    static const char *const kept[] = {"plan", "plan/plan", "plan/finished", MINE};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strcmp(name, kept[i]) == 0)
            return true;
    return disk_image_find(calm, name) == NULL && /* of an older set, which has no manifest */
           disk_image_find(of.before, name) != NULL && disk_image_same(end, of.before, name);
}

static void check_end(bool good)
{
    struct disk_image *end = disk_image_read(folder);
    if (!good)
        crash_stop(&of, "the commands that follow", p.err.message);
    for (int i = 0; i < calm->count; i++)
        if (!disk_image_same(end, calm, calm->files[i].name))
            crash_stop(&of, calm->files[i].name, "is not as after one process");
    for (int i = 0; i < end->count; i++)
        if (disk_image_find(calm, end->files[i].name) == NULL && !is_known(end, end->files[i].name))
            crash_stop(&of, end->files[i].name, "is left");
    disk_image_free(end);
    of.ended++;
}

/* Until no lock is in the way. */
static bool until_free(bool (*run)(void))
{
    static const char *const locks[] = {LOCK, NULL};
    bool good = run();
    while (!good && crash_remove_lock(&of, p.err.message, locks))
        good = run();
    return good;
}

static void plan_again(struct crash *c, const struct disk_image *now)
{
    (void)now;
    bool good = until_free(run_make) && until_free(run_work) && until_free(run_finish);
    if (good && disk_choice_has_old_bytes(&c->choice) && remove(crash_path(c, LOCK)) == 0)
        good = run_finish(); /* of a finished plan it is no error, and nothing is tidied up */
    check_end(good);
}

/* Of the plan nothing is left but what somebody has put there, and the set is as it was. */
static void forget_again(struct crash *c, const struct disk_image *now)
{
    static const char *const gone[] = {"plan/plan", "plan/finished"};
    (void)now;
    check_end(run_forget());
    struct disk_image *end = disk_image_read(folder);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (disk_image_find(end, gone[i]) != NULL)
            crash_stop(c, gone[i], "is left");
    if (disk_image_find(end, MINE) == NULL)
        crash_stop(c, MINE, "is gone");
    disk_image_free(end);
}

static void pack_again(struct crash *c, const struct disk_image *now)
{
    (void)c, (void)now;
    check_end(until_free(run_pack));
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void empty_folder(void)
{
    tmp_remove_all(folder);
    make_folder(&p.dir, "d");
    make_folder(&p.dir, "d/out");
    make_folder(&p.dir, "d/notes");
}

static void make_calm(void)
{
    empty_folder();
    ck_assert_msg(run_pack(), "%s", p.err.message);
    calm = disk_image_read(folder);
    empty_folder();
}

static void must(bool good)
{
    ck_assert_msg(good, "%s", p.err.message);
}

static void crash(const char *title, bool (*run)(void), crash_look_fn *again)
{
    of = (struct crash){.title = title,
                        .folder = folder,
                        .where = folder,
                        .run = run,
                        .look = look,
                        .again = again,
                        .why = p.err.message};
    crash_try(&of);
    disk_image_free(calm);
}

/* What comes before the step that is stopped is done. */
static void crash_in_step(const char *title, int step)
{
    static bool (*const steps[])(void) = {run_make, run_work, run_finish};
    for (int i = 0; i < step; i++)
        must(steps[i]());
    crash(title, steps[step], plan_again);
}

static void setup(void)
{
    tmp_in_memory();
    packing_make(&p, true);
    snprintf(folder, sizeof(folder), "%s", tmp_path(&p.dir, "d"));
    snprintf(plan, sizeof(plan), "%s", tmp_path(&p.dir, "d/plan"));
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "d/out/b.rec"));
    snprintf(report, sizeof(report), "%s", tmp_path(&p.dir, "d/notes/skipped.tsv"));
    disk_log_no_sync = true;
    p.o.threads = 1;
    p.o.report = report;
    itemset_make(&set, &p, ITEM_MIXED);
    set.refused_at = 9;
}

/* _i: whether tasks are whole shards, or parts that are joined. */
static void choose(int i)
{
    tasks = i == 0 ? 0 : 4;
    p.o.shards = i == 0 ? 3 : 0;
}

static void teardown(void)
{
    itemset_forget(&set);
    packing_end(&p);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(a_plan_that_is_made, 0, 2)
{
    choose(_i);
    make_calm();
    crash_in_step("planned", 0);
}

LOOP_TEST(tasks_that_are_worked_on, 0, 3) /* _i: as above; CBF */
{
    choose(_i % 2);
    p.o.format = _i == 2 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    make_calm();
    crash_in_step("worked on", 1);
}

LOOP_TEST(a_plan_that_is_finished, 0, 3)
{
    choose(_i % 2);
    p.o.format = _i == 2 ? IMREC_PACK_CBF : IMREC_PACK_REC;
    make_calm();
    crash_in_step("finished", 2);
}

LOOP_TEST(a_plan_that_replaces_a_set, 0, 6) /* _i: shards; the step */
{
    choose(_i % 2);
    make_calm();
    p.o.resize = 24;
    p.o.shards = _i % 2 == 0 ? 2 : 0;
    must(run_pack());
    choose(_i % 2);
    p.o.resize = 32;
    p.o.force = true;
    crash_in_step("replaced", _i / 2);
}

LOOP_TEST(a_plan_of_items, 0, 6) /* likewise */
{
    of_items = true;
    choose(_i % 2);
    make_calm();
    crash_in_step("of items", _i / 2);
}

TEST(a_plan_that_is_forgotten)
{
    choose(0);
    make_calm();
    must(run_make() && run_work() && run_finish());
    tmp_write(&p.dir, "d/" MINE, "mine", 4);
    crash("forgotten", run_forget, forget_again);
}

/* Shards and lists in one folder, the report in another. */
LOOP_TEST(a_run_with_files_in_two_folders, 0, 2)
{
    choose(_i);
    make_calm();
    p.o.resume = true;
    crash("packed", run_pack, pack_again);
}
