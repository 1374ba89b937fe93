/* im2rec/tasks/plan_rows.c - PLAN/tasks: a checked line a task, all of one length, so that a worker
 * reads its own alone. */
#include "im2rec/tasks/plan.h"

#include "base/error.h"
#include "base/math.h"
#include "im2rec/set/checked_lines.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROW_BYTES    128u
#define ROWS_AT_ONCE 64u
#define NUMBERS      (sizeof(struct plan_row) / sizeof(uint64_t))

static enum imrec_status
row_text(const struct plan_row *r, struct buf *out, struct imrec_error *err)
{
    char head[ROW_BYTES];
    /* 8 of the check, a blank, the head, a line end */
    const int n = snprintf(
        head, sizeof(head),
        "t %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
        r->number, r->first, r->images, r->begin, r->end, r->lines_before, r->crc);
    const int most = (int)ROW_BYTES - 10;
    if (n < 0 || n > most)
        return imrec_fail(err, IMREC_ERR_LIMIT, "the numbers of a task are too large for a plan");
    memset(head + n, ' ', (size_t)(most - n));
    head[most] = '\0';
    return checked_line_put(out, head, (struct bytes){NULL, 0}, err);
}

enum imrec_status
plan_rows_write(const struct plan *p, const struct plan_row *rows, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct buf text = BUF_INIT(2 * ROW_BYTES);
    struct sink *to;
    plan_name(p, "tasks", name);
    IMREC_TRY(sink_open(name, &to, err));
    enum imrec_status st = IMREC_OK;
    for (uint64_t k = 0; st == IMREC_OK && k < p->tasks; k++) {
        text.n = 0;
        st = row_text(&rows[k], &text, err);
        if (st == IMREC_OK)
            st = sink_append(to, text.p, text.n, err);
    }
    buf_free(&text);
    if (st == IMREC_OK)
        return sink_commit(to, err);
    sink_abort(to);
    return st;
}

uint64_t plan_first_image(const struct plan *p, uint64_t k)
{
    return share_begin(p->images, k, p->tasks);
}

static bool read_row(const uint8_t text[ROW_BYTES], struct plan_row *out)
{
    char head[CHECKED_HEAD_BYTES];
    struct bytes line, rest;
    if (text[ROW_BYTES - 1] != '\n' ||
        !checked_line_read((struct bytes){text, ROW_BYTES - 1}, &line) ||
        !checked_head_of(line, head, &rest))
        return false;
    for (size_t n = strlen(head); n > 0 && head[n - 1] == ' '; n--)
        head[n - 1] = '\0';
    return checked_numbers_read(head, 't', out, NUMBERS);
}

/* Of items nobody knows how many a task has but its own line. */
static bool is_of(const struct plan *p, uint64_t k, const struct plan_row *r)
{
    if (r->number != k || r->begin > r->end || r->crc > UINT32_MAX)
        return false;
    if (p->items)
        return r->first <= p->images && r->images <= p->images - r->first && r->end == 0;
    return r->first == plan_first_image(p, k) && r->images == plan_first_image(p, k + 1) - r->first;
}

static enum imrec_status
open_rows(const struct plan *p, struct source **out, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    plan_name(p, "tasks", name);
    IMREC_TRY(source_open(name, out, err));
    if ((*out)->size == p->tasks * ROW_BYTES)
        return IMREC_OK;
    imrec_fail(err, IMREC_ERR_CORRUPT,
               "%s has %" PRIu64 " bytes, %" PRIu64 " tasks need %" PRIu64 ": make the plan again",
               name, (*out)->size, p->tasks, p->tasks * ROW_BYTES);
    source_close(*out);
    return IMREC_ERR_CORRUPT;
}

static enum imrec_status take_row(const struct plan *p, uint64_t k, const uint8_t text[ROW_BYTES],
                                  struct plan_row *out, struct imrec_error *err)
{
    if (read_row(text, out) && is_of(p, k, out))
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, k * ROW_BYTES,
                          "%s/tasks: the line of task %" PRIu64 " is damaged: make the plan again",
                          p->uri, k);
}

enum imrec_status
plan_row_read(const struct plan *p, uint64_t k, struct plan_row *out, struct imrec_error *err)
{
    uint8_t text[ROW_BYTES];
    struct source *from;
    IMREC_TRY(open_rows(p, &from, err));
    const enum imrec_status st = source_read(from, k * ROW_BYTES, text, ROW_BYTES, err);
    source_close(from);
    return st == IMREC_OK ? take_row(p, k, text, out, err) : st;
}

enum imrec_status
plan_rows_visit(const struct plan *p, plan_row_fn *visit, void *user, struct imrec_error *err)
{
    uint8_t text[ROWS_AT_ONCE * ROW_BYTES];
    struct source *from;
    struct plan_row row;
    IMREC_TRY(open_rows(p, &from, err));
    enum imrec_status st = IMREC_OK;
    for (uint64_t k = 0; st == IMREC_OK && k < p->tasks; k++) {
        const uint64_t i = k % ROWS_AT_ONCE, n = min_u64(p->tasks - k, ROWS_AT_ONCE);
        if (i == 0)
            st = source_read(from, k * ROW_BYTES, text, (size_t)n * ROW_BYTES, err);
        if (st == IMREC_OK)
            st = take_row(p, k, text + i * ROW_BYTES, &row, err);
        if (st == IMREC_OK)
            st = visit(user, &row, err);
    }
    source_close(from);
    return st;
}
