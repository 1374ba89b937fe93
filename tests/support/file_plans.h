/* tests/support/file_plans.h - packing.h's folder as the tasks of a plan: the fixture of its tests,
 * the steps, and what comes of them. */
#ifndef IMREC_TESTS_FILE_PLANS_H
#define IMREC_TESTS_FILE_PLANS_H

#include "base/error.h"
#include "tests/support/plan_steps.h"

#include <dirent.h>

static char list[512];

static inline void setup(void)
{
    tmp_in_memory();
    packing_make(&p, true);
    p.o.threads = 1;
    list[0] = '\0';
    name_all("");
}

static inline void teardown(void)
{
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static inline struct imrec_pack_task task_of(void)
{
    return (struct imrec_pack_task){
        .list = list[0] != '\0' ? list : NULL, .root = p.source, .out = out};
}

static inline enum imrec_status make(uint64_t tasks)
{
    const struct imrec_pack_task task = task_of();
    return imrec_plan_make(plan, &task, &p.o, tasks, &now, &p.err);
}

static inline enum imrec_status make_again(uint64_t tasks)
{
    const struct imrec_pack_task task = task_of();
    return imrec_plan_continue(plan, &task, &p.o, tasks, &p.err);
}

static inline enum imrec_status work(uint64_t k)
{
    struct imrec_plan_run run;
    imrec_plan_run_init(&run);
    run.threads = 1;
    return imrec_plan_work(plan, k, &run, &p.result, &p.err);
}

static inline void make_and_work(uint64_t tasks)
{
    expect_ok(make(tasks));
    for (uint64_t k = now.tasks; k > 0; k--)
        expect_ok(work(k - 1));
}

static inline void expect_set(void)
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

static inline void pack_a(void)
{
    expect_ok(packing_run(&p, tmp_path(&p.dir, "a")));
    of_run = p.result;
}

/* What is known of a set, even if it was complete before. */
static inline void expect_result_of_run(void)
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
static inline const char *planned(const char *name)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/plan/%s", p.dir.path, name);
    return path;
}

static inline void change(const char *path, long at, int by)
{
    FILE *f = fopen(path, "r+b");
    ck_assert(f != NULL && fseek(f, at, SEEK_SET) == 0);
    const int c = fgetc(f);
    ck_assert(c >= 0 && fseek(f, at, SEEK_SET) == 0);
    ck_assert_int_eq(fputc(c ^ by, f), c ^ by);
    ck_assert_int_eq(fclose(f), 0);
}
#endif
