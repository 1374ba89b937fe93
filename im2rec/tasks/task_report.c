/*
 * im2rec/tasks/task_report.c - checked lines:
 *
 *     p ...   as in the journal, a packed image; s ...: a skipped one
 *         <tab> LINE ID UNLABELLED BYTES CRC LABELS <tab> PATH <tab> WHY
 *     e PLAN MARK IMAGES PACKED SKIPPED BYTES, then as "f" of the journal
 */
#include "im2rec/tasks/task_report.h"

#include "base/error.h"
#include "formats/crc32c.h"
#include "formats/text.h"
#include "im2rec/item/read_file.h"
#include "im2rec/tasks/escape.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TAIL_BYTES 1024u /* no last line is longer */
#define TEXT_MAX   ((size_t)256 << 20)

/* ---- writing ---------------------------------------------------------------------------- */

static enum imrec_status
put_labels(struct buf *out, const struct pack_item *p, struct imrec_error *err)
{
    char digits[16];
    for (uint32_t i = 0; i < p->label_count; i++) {
        uint32_t bits;
        memcpy(&bits, p->labels.p + i * sizeof(bits), sizeof(bits));
        snprintf(digits, sizeof(digits), "%08" PRIx32, bits);
        IMREC_TRY(buf_append(out, digits, 8, err));
    }
    return IMREC_OK;
}

static enum imrec_status
put_rest(struct buf *out, const struct pack_item *p, struct imrec_error *err)
{
    char numbers[128], room[IMAGE_PATH_MAX];
    const bool packed = p->outcome.reason == REASON_NONE;
    const struct bytes why = {(const uint8_t *)p->why, strlen(p->why)};
    snprintf(numbers, sizeof(numbers), "%" PRIu64 " %" PRIu64 " %d %zu %08" PRIx32 " ", p->line,
             p->id, p->outcome.unlabelled, packed ? p->record.n : 0,
             packed ? crc32c(0, p->record.p, p->record.n) : 0);
    IMREC_TRY(buf_append(out, numbers, strlen(numbers), err));
    if (packed)
        IMREC_TRY(put_labels(out, p, err));
    IMREC_TRY(buf_append(out, "\t", 1, err));
    IMREC_TRY(escape(out, file_public_name(p->path, room), err));
    IMREC_TRY(buf_append(out, "\t", 1, err));
    return escape(out, why, err);
}

enum imrec_status
task_report_image(struct buf *out, const struct pack_item *p, struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    struct buf rest = BUF_INIT(TEXT_MAX);
    checked_outcome_head(&p->outcome, head);
    enum imrec_status st = put_rest(&rest, p, err);
    if (st == IMREC_OK)
        st = checked_line_put(out, head, (struct bytes){rest.p, rest.n}, err);
    buf_free(&rest);
    return st;
}

enum imrec_status task_report_end(struct buf *out, const struct plan *plan,
                                  const struct task_end *e, struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    const struct written_shard *s = &e->shard;
    snprintf(head, sizeof(head),
             "e %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
             " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
             plan->mark, e->mark, e->images, e->packed, e->skipped, e->bytes, s->number, s->records,
             s->rec_bytes, s->rec_crc, s->idx_bytes, s->idx_crc, s->crc_bytes, s->crc_crc);
    return checked_line_put(out, head, (struct bytes){NULL, 0}, err);
}

/* ---- reading ---------------------------------------------------------------------------- */

static enum imrec_status
damaged(const char *name, uint64_t offset, const char *what, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_CORRUPT, offset,
                          "%s: %s: the report is damaged; remove it, and work on its task again",
                          name, what);
}

static bool read_end(const char *head, const struct plan *plan, struct task_end *e)
{
    char of[PLAN_MARK_BYTES];
    struct written_shard *s = &e->shard;
    int at = 0;
    return sscanf(head,
                  "e %16[0-9a-f] %16[0-9a-f] %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %" SCNu64 "%n",
                  of, e->mark, &e->images, &e->packed, &e->skipped, &e->bytes, &s->number,
                  &s->records, &s->rec_bytes, &s->rec_crc, &s->idx_bytes, &s->idx_crc,
                  &s->crc_bytes, &s->crc_crc, &at) == 14 &&
           head[at] == '\0' && strcmp(of, plan->mark) == 0 &&
           strlen(e->mark) == PLAN_MARK_BYTES - 1;
}

/* The last line of a text that ends in it. */
static bool last_line(const uint8_t *text, size_t n, struct bytes *line)
{
    if (n == 0 || text[n - 1] != '\n')
        return false;
    size_t from = n - 1;
    while (from > 0 && text[from - 1] != '\n')
        from--;
    *line = (struct bytes){text + from, n - 1 - from};
    return true;
}

static enum imrec_status look(const struct plan *plan, const char *name, struct source *source,
                              struct task_end *end, struct imrec_error *err)
{
    uint8_t tail[TAIL_BYTES];
    char head[CHECKED_HEAD_BYTES];
    struct bytes line, rest;
    const size_t n = source->size < TAIL_BYTES ? (size_t)source->size : TAIL_BYTES;
    IMREC_TRY(source_read(source, source->size - n, tail, n, err));
    const bool good = last_line(tail, n, &line) && checked_line_read(line, &line) &&
                      checked_head_of(line, head, &rest);
    return good && read_end(head, plan, end)
               ? IMREC_OK
               : damaged(name, source->size - n, "its last line is none of this plan", err);
}

enum imrec_status task_report_look(const struct plan *plan, uint64_t k, bool *done,
                                   struct task_end *end, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct source *source;
    plan_task_name(plan, k, "done", NULL, name);
    IMREC_TRY(sink_exists(name, done, err));
    if (!*done)
        return IMREC_OK;
    IMREC_TRY(source_open(name, &source, err));
    const enum imrec_status st = look(plan, name, source, end, err);
    source_close(source);
    return st;
}

enum imrec_status task_report_open(const struct plan *plan, uint64_t k, struct task_report *r,
                                   struct imrec_error *err)
{
    *r = (struct task_report){.text = BUF_INIT(TEXT_MAX)};
    plan_task_name(plan, k, "done", NULL, r->name);
    return source_open(r->name, &r->lines.source, err);
}

static bool read_hex(struct bytes text, uint32_t *out)
{
    char digits[9] = {0};
    unsigned value = 0;
    if (text.n != 8)
        return false;
    memcpy(digits, text.p, 8);
    const bool good = strspn(digits, "0123456789abcdef") == 8 && sscanf(digits, "%8x", &value) == 1;
    *out = value;
    return good;
}

/* IMREC_END: they are malformed. */
static enum imrec_status
read_labels(struct bytes text, struct pack_item *p, struct imrec_error *err)
{
    for (size_t i = 0; i < text.n; i += 8) {
        uint32_t bits;
        if (text.n - i < 8 || !read_hex((struct bytes){text.p + i, 8}, &bits))
            return IMREC_END;
        IMREC_TRY(buf_append(&p->labels, &bits, sizeof(bits), err));
    }
    p->label_count = (uint32_t)(text.n / 8);
    return IMREC_OK;
}

/* IMREC_END: they are malformed. */
static enum imrec_status
read_numbers(struct bytes text, struct pack_item *p, uint64_t *bytes, struct imrec_error *err)
{
    uint64_t unlabelled;
    if (!text_to_u64(text_word(&text), &p->line) || !text_to_u64(text_word(&text), &p->id) ||
        !text_to_u64(text_word(&text), &unlabelled) || !text_to_u64(text_word(&text), bytes) ||
        !read_hex(text_word(&text), &p->crc))
        return IMREC_END;
    p->outcome.unlabelled = unlabelled != 0;
    return read_labels(text_word(&text), p, err);
}

static enum imrec_status read_rest(struct task_report *r, struct bytes rest, struct pack_item *p,
                                   uint64_t *bytes, struct imrec_error *err)
{
    const uint64_t at = checked_lines_offset(&r->lines);
    const enum imrec_status st = read_numbers(next_field(&rest), p, bytes, err);
    if (st != IMREC_OK)
        return st == IMREC_END ? damaged(r->name, at, "numbers of an image", err) : st;
    IMREC_TRY(unescape(&p->text, next_field(&rest), err));
    p->path = (struct bytes){p->text.p, p->text.n};
    r->text.n = 0;
    IMREC_TRY(unescape(&r->text, rest, err));
    if (r->text.n >= sizeof(p->why))
        return damaged(r->name, at, "the sentence of an image", err);
    memcpy(p->why, r->text.n != 0 ? (const char *)r->text.p : "", r->text.n);
    p->why[r->text.n] = '\0';
    return IMREC_OK;
}

enum imrec_status task_report_next(struct task_report *r, struct pack_item *p, uint64_t *bytes,
                                   struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    struct bytes line, rest;
    const uint64_t at = checked_lines_offset(&r->lines);
    const enum imrec_status st = checked_lines_next(&r->lines, &line, err);
    if (st == IMREC_END)
        return damaged(r->name, at, "a line", err);
    IMREC_TRY(st);
    if (!checked_head_of(line, head, &rest))
        return damaged(r->name, at, "a line is too long", err);
    if (head[0] == 'e')
        return IMREC_END;
    pack_item_begin(p);
    if (!checked_outcome_read(head, &p->outcome))
        return damaged(r->name, at, "the line of an image", err);
    return read_rest(r, rest, p, bytes, err);
}

void task_report_close(struct task_report *r)
{
    source_close(r->lines.source);
    checked_lines_free(&r->lines);
    buf_free(&r->text);
    *r = (struct task_report){0};
}
