/* im2rec/tasks/plan_job.c - the job of a task, and that of the whole set, out of a plan's files. */
#include "im2rec/tasks/plan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/crc32c.h"
#include "im2rec/item/item_fields.h"
#include "im2rec/list/archive_scan.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/tasks/escape.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CLASSES_MAX ((size_t)1 << 30)
#define SKIP_MAX    ((size_t)1 << 20)

static enum imrec_status load_classes(const struct plan *p, struct job *j, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    uint8_t *text;
    size_t n;
    if (!p->has_classes)
        return IMREC_OK;
    plan_name(p, "classes.txt", name);
    IMREC_TRY(source_load(name, CLASSES_MAX, &text, &n, err));
    const enum imrec_status st =
        crc32c(0, text, n) == p->classes_crc
            ? class_list_read(name, (struct bytes){text, n}, &j->given, err)
            : imrec_fail(err, IMREC_ERR_CORRUPT, "%s has changed since the plan was made", name);
    imrec_free(text);
    j->has_given = st == IMREC_OK;
    return st;
}

/* What both jobs are. */
static enum imrec_status begin(const struct plan *p, struct job *j, struct imrec_error *err)
{
    *j = (struct job){.fingerprint = p->fingerprint,
                      .copies = (uint64_t)p->o.copies,
                      .images = p->images,
                      .total = plan_records(p),
                      .widest = (uint32_t)p->widest,
                      .scanned = p->scanned,
                      .places = p->archives,
                      .unlabelled = p->archives && archives_without_labels(&p->o)};
    return load_classes(p, j, err);
}

/* Of a list that was given, or of archives, whose fields have one each. */
static enum imrec_status
take_columns(const struct plan *p, struct list_reader *list, struct imrec_error *err)
{
    struct item_fields f;
    const enum imrec_status st = item_fields_names(&f, &p->o, err);
    if (st == IMREC_OK)
        list_take_columns(list, p->archives ? f.names.count : f.columns.count);
    item_fields_free(&f);
    return st;
}

enum imrec_status plan_job_of_task(const struct plan *p, const struct plan_row *row,
                                   const struct stop *stop, struct job *out,
                                   struct imrec_error *err)
{
    const struct list_piece piece = {row->begin, row->end, row->lines_before, (uint32_t)row->crc};
    enum imrec_status st = begin(p, out, err);
    out->images = row->images;
    if (st == IMREC_OK && !p->items)
        st = list_open_piece(p->list, p->list_name, (uint32_t)p->o.label_width, &piece, stop,
                             &out->list, err);
    if (st == IMREC_OK && out->list != NULL)
        st = take_columns(p, out->list, err);
    if (st == IMREC_OK && out->list != NULL && !p->o.pack_label)
        list_pack_first(out->list);
    if (st != IMREC_OK)
        job_close(out);
    return st;
}

/* ---- skips of the scan ------------------------------------------------------------------ */

static struct bytes text_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static enum imrec_status
put_skip(const struct scan_skip *s, struct buf *coded, struct buf *line, struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    coded->n = line->n = 0;
    snprintf(head, sizeof(head), "s %s", reason_word(s->reason));
    IMREC_TRY(escape(coded, text_of(s->path), err));
    IMREC_TRY(buf_append(coded, "\t", 1, err));
    IMREC_TRY(escape(coded, text_of(s->why), err));
    return checked_line_put(line, head, (struct bytes){coded->p, coded->n}, err);
}

enum imrec_status
plan_skips_write(const struct plan *p, const struct scan *s, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct buf coded = BUF_INIT(SKIP_MAX), line = BUF_INIT(SKIP_MAX);
    struct sink *to;
    plan_name(p, "skips", name);
    IMREC_TRY(sink_open(name, &to, err));
    enum imrec_status st = IMREC_OK;
    for (size_t i = 0; st == IMREC_OK && i < s->skip_count; i++) {
        st = put_skip(&s->skips[i], &coded, &line, err);
        if (st == IMREC_OK)
            st = sink_append(to, line.p, line.n, err);
    }
    buf_free(&coded);
    buf_free(&line);
    if (st == IMREC_OK)
        return sink_commit(to, err);
    sink_abort(to);
    return st;
}

static enum imrec_status
take_text(struct scan *s, struct bytes coded, const char **out, struct imrec_error *err)
{
    struct buf text = BUF_INIT(SKIP_MAX);
    enum imrec_status st = unescape(&text, coded, err);
    if (st == IMREC_OK)
        st = buf_append(&text, "", 1, err);
    *out = st == IMREC_OK ? string_arena_put(&s->texts, text.p, text.n) : NULL;
    if (st == IMREC_OK && *out == NULL)
        st = IMREC_NO_MEMORY(err, "no memory for what a scan passed over");
    buf_free(&text);
    return st;
}

static enum imrec_status take_skip(struct scan *s, struct bytes line, struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES] = ""; /* it stays so where a line has a longer one */
    struct bytes rest;
    struct scan_skip skip = {.reason = REASON_NONE};
    if (checked_head_of(line, head, &rest) && strncmp(head, "s ", 2) == 0)
        skip.reason = reason_find(head + 2, strlen(head + 2));
    if (skip.reason == REASON_NONE)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "'%.60s' is no skip", head);
    IMREC_TRY(take_text(s, next_field(&rest), &skip.path, err));
    IMREC_TRY(take_text(s, rest, &skip.why, err));
    if (!IMREC_GROW(s->skips, s->skip_room, s->skip_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for %zu skips", s->skip_count + 1);
    s->skips[s->skip_count++] = skip;
    return IMREC_OK;
}

static enum imrec_status load_skips(const struct plan *p, struct scan *s, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct checked_lines l = {0};
    struct bytes line;
    enum imrec_status st = IMREC_OK;
    s->other_files = p->other_files;
    if (p->skips == 0)
        return IMREC_OK;
    plan_name(p, "skips", name);
    IMREC_TRY(source_open(name, &l.source, err));
    while (st == IMREC_OK && (st = checked_lines_next(&l, &line, err)) == IMREC_OK)
        st = take_skip(s, line, err);
    source_close(l.source);
    checked_lines_free(&l);
    if (st == IMREC_END && s->skip_count == p->skips)
        return IMREC_OK;
    return st != IMREC_END ? st
                           : imrec_fail(err, IMREC_ERR_CORRUPT,
                                        "%s has %zu lines, the plan %" PRIu64 ": make it again",
                                        name, s->skip_count, p->skips);
}

enum imrec_status plan_job_of_set(const struct plan *p, struct job *out, struct imrec_error *err)
{
    enum imrec_status st = begin(p, out, err);
    if (st == IMREC_OK)
        st = load_skips(p, &out->scan, err);
    if (st != IMREC_OK)
        job_close(out);
    return st;
}
