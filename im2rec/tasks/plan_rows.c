/* im2rec/tasks/plan_rows.c - PLAN/tasks: a checked line a task, all of one length, so that a worker
 * reads its own alone. */
#include "im2rec/tasks/plan.h"

#include "base/error.h"
#include "base/math.h"
#include "im2rec/set/checked_lines.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROW_BYTES 128u
#define NUMBERS   (sizeof(struct plan_row) / sizeof(uint64_t))

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

static enum imrec_status
read_text(const struct plan *p, uint64_t k, uint8_t text[ROW_BYTES], struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct source *from;
    plan_name(p, "tasks", name);
    IMREC_TRY(source_open(name, &from, err));
    const enum imrec_status st = from->size == p->tasks * ROW_BYTES
                                     ? source_read(from, k * ROW_BYTES, text, ROW_BYTES, err)
                                     : imrec_fail(err, IMREC_ERR_CORRUPT,
                                                  "%s has %" PRIu64 " bytes, %" PRIu64
                                                  " tasks need %" PRIu64 ": make the plan again",
                                                  name, from->size, p->tasks, p->tasks * ROW_BYTES);
    source_close(from);
    return st;
}

enum imrec_status
plan_row_read(const struct plan *p, uint64_t k, struct plan_row *out, struct imrec_error *err)
{
    uint8_t text[ROW_BYTES];
    IMREC_TRY(read_text(p, k, text, err));
    const uint64_t first = plan_first_image(p, k);
    if (read_row(text, out) && out->number == k && out->first == first &&
        out->images == plan_first_image(p, k + 1) - first && out->begin <= out->end &&
        out->crc <= UINT32_MAX)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, k * ROW_BYTES,
                          "%s/tasks: the line of task %" PRIu64 " is damaged: make the plan again",
                          p->uri, k);
}
