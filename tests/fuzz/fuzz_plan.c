/* Any bytes as the files of a plan. data[0] says which: the plan, a report, skips, tasks; with bit
 * 2 they are taken as they come, else each line gets the right check, so that the fields alone
 * stand between the bytes and their readers; with bit 3 tasks are of items. */
#include "im2rec/item/pack_options.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/tasks/task_report.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 22)

enum { PLAN, REPORT, SKIPS, TASKS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The lines with their checks; of a plan the last one gets that of all before it. */
static void put_checked(struct buf *out, struct bytes text, int what)
{
    while (text.n != 0) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        const size_t n = end != NULL ? (size_t)(end - text.p) : text.n;
        char head[CHECKED_HEAD_BYTES] = "";
        struct bytes rest;
        if (!checked_head_of((struct bytes){text.p, n}, head, &rest))
            return;
        if (what == PLAN && head[0] == 'e')
            (void)snprintf(head, sizeof(head), "e %016" PRIx64,
                           fingerprint(FINGERPRINT_START, out->p, out->n));
        if (checked_line_put(out, head, rest, NULL) != IMREC_OK)
            return;
        const size_t used = n + (end != NULL);
        text = (struct bytes){text.p + used, text.n - used};
    }
}

static void put(const char *name, const struct buf *text)
{
    must(mem_put(name, text->n != 0 ? text->p : (const uint8_t *)"", text->n, NULL) == IMREC_OK);
}

/* A plan that is taken is written as it was read. */
static void try_plan(void)
{
    struct plan p, again;
    if (plan_load("mem://plan", &p, NULL) != IMREC_OK)
        return;
    must(p.tasks > 0 && p.tasks <= IMREC_PLAN_TASKS_MOST);
    (void)snprintf(p.uri, sizeof(p.uri), "mem://again");
    const enum imrec_status st = plan_write(&p, NULL);
    if (st == IMREC_OK) {
        must(plan_load("mem://again", &again, NULL) == IMREC_OK);
        must(again.tasks == p.tasks && again.images == p.images);
        must(strcmp(again.task.out, p.task.out) == 0 && again.items == p.items);
        must(p.items ? again.list == NULL : strcmp(again.list, p.list) == 0);
        plan_free(&again);
    }
    plan_free(&p);
}

static void known_plan(struct plan *p, bool items)
{
    *p = (struct plan){
        .mark = "0123456789abcdef", .tasks = 3, .images = 30, .skips = 1, .items = items};
    imrec_pack_options_init(&p->o);
    must(plan_name_set(p, "mem://plan", NULL) == IMREC_OK);
}

static void try_report(const struct plan *p)
{
    struct task_end end;
    struct task_report r;
    struct pack_item item = {0};
    bool done;
    uint64_t bytes;
    (void)!task_report_look(p, 0, &done, &end, NULL);
    must(task_report_open(p, 0, &r, NULL) == IMREC_OK);
    while (task_report_next(&r, &item, &bytes, NULL) == IMREC_OK)
        must(item.labels.n == item.label_count * sizeof(float));
    task_report_close(&r);
    pack_item_free(&item);
}

static enum imrec_status visit_row(void *user, const struct plan_row *row, struct imrec_error *err)
{
    uint64_t *count = user;
    (void)err;
    must(row->number == (*count)++ && row->images <= 30);
    return IMREC_OK;
}

static void try_tasks(const struct plan *p)
{
    struct plan_row row;
    uint64_t count = 0;
    const enum imrec_status st = plan_row_read(p, 1, &row, NULL);
    if (st == IMREC_OK && p->items)
        must(row.number == 1 && row.first + row.images <= 30 && row.end == 0);
    else if (st == IMREC_OK)
        must(row.number == 1 && row.first == 10 && row.images == 10 && row.begin <= row.end);
    if (plan_rows_visit(p, visit_row, &count, NULL) == IMREC_OK)
        must(st == IMREC_OK && count == 3);
}

static void try_known(int what, bool items)
{
    struct plan p;
    struct job job;
    known_plan(&p, items);
    if (what == REPORT)
        try_report(&p);
    else if (what == SKIPS && plan_job_of_set(&p, &job, NULL) == IMREC_OK)
        job_close(&job);
    else if (what == TASKS)
        try_tasks(&p);
    plan_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"plan/plan", "plan/task-0000000.done", "plan/skips",
                                        "plan/tasks"};
    struct buf text = BUF_INIT(TEXT_MAX);
    if (size == 0)
        return 0;
    const int what = data[0] & 3;
    const struct bytes rest = {data + 1, size - 1};
    if (data[0] & 4)
        must(buf_append(&text, rest.p, rest.n, NULL) == IMREC_OK);
    else
        put_checked(&text, rest, what);
    put(names[what], &text);
    buf_free(&text);
    if (what == PLAN)
        try_plan();
    else
        try_known(what, (data[0] & 8) != 0);
    mem_clear();
    return 0;
}
