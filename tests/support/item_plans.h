/* tests/support/item_plans.h - the itemset as the tasks of a plan: the fixture of its tests, the
 * steps, and what comes of them. */
#ifndef IMREC_TESTS_ITEM_PLANS_H
#define IMREC_TESTS_ITEM_PLANS_H

#include "base/error.h"
#include "tests/support/itemset.h"
#include "tests/support/plan_steps.h"
#include "tests/support/starving.h"

enum { TASKS_MOST = 30 };

static struct itemset set;
static uint64_t sizes[TASKS_MOST], tasks; /* items of each task */
static struct imrec_plan_items counted[TASKS_MOST];
static bool nameless;

static inline enum imrec_status
next_item(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    const enum imrec_status st = itemset_next(user, item, err);
    if (nameless)
        item->name = NULL;
    return st;
}

static inline void setup(void)
{
    tmp_in_memory();
    packing_make(&p, false);
    p.o.threads = 1;
    p.o.resize = 20;
    itemset_make(&set, &p, ITEM_MIXED);
    set.source.next = next_item;
    nameless = false;
    name_all("");
}

static inline void teardown(void)
{
    itemset_forget(&set);
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* "5 0 7": as many items in task 0, 1, ... */
static inline void cut(const char *text)
{
    tasks = 0;
    for (const char *at = text; *at != '\0'; tasks++) {
        char *end;
        sizes[tasks] = strtoul(at, &end, 10);
        at = end + strspn(end, " ");
    }
}

static inline uint64_t first_of(uint64_t k)
{
    uint64_t first = 0;
    while (k > 0)
        first += sizes[--k];
    return first;
}

/* The source has the items of task k from here on. */
static inline void give(uint64_t k)
{
    set.next = first_of(k);
    set.count = set.next + sizes[k];
}

static inline struct imrec_pack_task task_of(void)
{
    return (struct imrec_pack_task){.root = p.source, .out = out};
}

static inline enum imrec_status count(uint64_t k)
{
    give(k);
    return imrec_plan_count_items(&set.source, &counted[k], &p.err);
}

static inline enum imrec_status make(void)
{
    const struct imrec_pack_task task = task_of();
    for (uint64_t k = 0; k < tasks; k++)
        IMREC_TRY(count(k));
    return imrec_plan_make_items(plan, &task, &set.source, &p.o, counted, tasks, &now, &p.err);
}

static inline enum imrec_status again(void)
{
    const struct imrec_pack_task task = task_of();
    return imrec_plan_continue_items(plan, &task, &set.source, &p.o, counted, tasks, &p.err);
}

/* The source is where it is. */
static inline enum imrec_status work_on(uint64_t k)
{
    struct imrec_plan_run run;
    imrec_plan_run_init(&run);
    run.threads = p.o.threads;
    return imrec_plan_work_items(plan, k, &set.source, &run, &p.result, &p.err);
}

static inline enum imrec_status work(uint64_t k)
{
    give(k);
    return work_on(k);
}

static inline void work_all(void)
{
    for (uint64_t k = tasks; k > 0; k--)
        expect_ok(work(k - 1));
}

static inline void pack_a(void)
{
    set.count = first_of(tasks);
    set.source.total = p.o.shards > 1 ? set.count : 0;
    expect_ok(itemset_run(&set, tmp_path(&p.dir, "a")));
    set.source.total = 0;
}

/* Files of the set a are those of b, and of no other name. */
static inline void expect_set(void)
{
    char name[100], other[100];
    int n = 0;
    DIR *d = opendir(p.dir.path);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] == 'a' && strstr(e->d_name, "manifest") == NULL) {
            snprintf(name, sizeof(name), "%.90s", e->d_name);
            snprintf(other, sizeof(other), "b%.90s", e->d_name + 1);
            expect_same_file(&p, name, other, "");
            n++;
        }
    closedir(d);
    ck_assert_int_ge(n, p.o.format == IMREC_PACK_CBF ? 2 : 4);
    expect_same_manifest(&p, "a", "b");
    ck_assert_int_eq(files_but(&p, "a"), n + 2); /* of b, and the plan */
}
#endif
