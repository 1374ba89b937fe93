/*
 * im2rec/set/journal.c - lines of text, each "check <blank> letter <blank> fields":
 *
 *     j VERSION FINGERPRINT TOTAL FORMAT                      the first line
 *     t <tab> TABLES                                          Huffman tables that JPEGs share
 *     p INDEX WIDTH HEIGHT WARNINGS CLASS FILE_BYTES KIND     packed  (<tab> report line)
 *     r as p                                                  the same, written again without loss
 *     s INDEX REASON                                          skipped (<tab> report line)
 *     f NUMBER RECORDS REC_BYTES REC_CRC IDX_BYTES IDX_CRC CRC_BYTES CRC_CRC
 *                                                             a shard is finished
 *     m NEXT PACKED LABELS, as f, LIST_BYTES LIST_CRC COMPLETE    a mark
 */
#include "im2rec/set/journal.h"

#include "base/alloc.h"
#include "base/error.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/shard/shard_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VERSION 3 /* 1 says no format, 2 no tables */

/* ---- writing ---------------------------------------------------------------------------- */

static const struct bytes nothing = {NULL, 0};

static enum imrec_status flush(struct journal *j, struct imrec_error *err)
{
    IMREC_TRY(sink_append(j->sink, j->pending.p, j->pending.n, err));
    j->pending.n = 0;
    return sink_sync(j->sink, err);
}

enum imrec_status journal_begin(const char *uri, uint64_t print, uint64_t total,
                                const struct shard_kind *kind, struct journal *out,
                                struct imrec_error *err)
{
    char head[96];
    *out = (struct journal){.pending = BUF_INIT(CHECKED_LINES_MAX)};
    snprintf(head, sizeof(head), "j %d %016" PRIx64 " %" PRIu64 " %s", VERSION, print, total,
             kind->format);
    IMREC_TRY(sink_open_log(uri, &out->sink, err));
    enum imrec_status st = checked_line_put(&out->pending, head, nothing, err);
    if (st == IMREC_OK)
        st = flush(out, err);
    if (st != IMREC_OK)
        journal_leave(out);
    return st;
}

enum imrec_status journal_tables(struct journal *j, const char *text, struct imrec_error *err)
{
    return checked_line_put(&j->pending, "t", (struct bytes){(const uint8_t *)text, strlen(text)},
                            err);
}

enum imrec_status journal_image(struct journal *j, const struct outcome *o, struct bytes report,
                                struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    checked_outcome_head(o, head);
    return checked_line_put(&j->pending, head, report, err);
}

enum imrec_status
journal_end_shard(struct journal *j, const struct written_shard *s, struct imrec_error *err)
{
    return checked_numbers_put(&j->pending, 'f', s, sizeof(*s) / sizeof(uint64_t), err);
}

enum imrec_status
journal_mark(struct journal *j, const struct journal_mark *m, struct imrec_error *err)
{
    IMREC_TRY(checked_numbers_put(&j->pending, 'm', m, sizeof(*m) / sizeof(uint64_t), err));
    return flush(j, err);
}

void journal_leave(struct journal *j)
{
    sink_leave(j->sink);
    buf_free(&j->pending);
    *j = (struct journal){0};
}

void journal_remove(struct journal *j)
{
    sink_abort(j->sink);
    buf_free(&j->pending);
    *j = (struct journal){0};
}

/* ---- reading ---------------------------------------------------------------------------- */

static enum imrec_status visit(const char *head, struct bytes report,
                               const struct journal_visitor *v, struct imrec_error *err)
{
    struct outcome o;
    struct written_shard s;
    if (head[0] == 'm')
        return IMREC_OK;
    if (checked_outcome_read(head, &o))
        return v->image(v->user, &o, report, err);
    if (checked_numbers_read(head, 'f', &s, sizeof(s) / sizeof(uint64_t)))
        return v->shard(v->user, &s, err);
    if (strcmp(head, "t") == 0)
        return v->tables(v->user, report, err);
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the journal holds a line that this version does not write: '%.40s'; "
                      "force begins again",
                      head);
}

struct first_line {
    int version;
    uint64_t print, total;
    const struct shard_kind *kind; /* NULL: it does not say */
};

static enum imrec_status read_first(struct checked_lines *l, const char *uri,
                                    struct first_line *out, struct imrec_error *err)
{
    struct bytes line, report;
    char head[CHECKED_HEAD_BYTES];
    int at = 0;
    *out = (struct first_line){0};
    IMREC_TRY(checked_lines_next(l, &line, err));
    if (!checked_head_of(line, head, &report) ||
        sscanf(head, "j %d %" SCNx64 " %" SCNu64 "%n", &out->version, &out->print, &out->total,
               &at) != 3)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0, "%s.part is not a journal of im2rec", uri);
    if (head[at] == ' ')
        out->kind = shard_kind_of_format(head + at + 1);
    return IMREC_OK;
}

static enum imrec_status check_first(struct checked_lines *l, const char *uri, uint64_t print,
                                     uint64_t total, struct imrec_error *err)
{
    struct first_line first;
    IMREC_TRY(read_first(l, uri, &first, err));
    if (first.version < 1 || first.version > VERSION)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 0,
                              "%s.part has version %d, this program reads up to %d; force begins "
                              "again",
                              uri, first.version, VERSION);
    if (first.total != total)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, 0,
                              "%s.part is of a run over %" PRIu64 " images, now there are %" PRIu64
                              "; force begins again",
                              uri, first.total, total);
    if (first.print != print)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, 0,
                              "%s.part is of a run with other options, another list or a folder "
                              "that has changed since; force begins again",
                              uri);
    return IMREC_OK;
}

/* Finds the last mark that counts: *end is where the next line goes. */
static enum imrec_status last_mark(struct checked_lines *l, uint64_t most_skips,
                                   const struct stop *stop, struct journal_mark *mark,
                                   uint64_t *end, struct imrec_error *err)
{
    struct bytes line, report;
    struct journal_mark next;
    char head[CHECKED_HEAD_BYTES];
    uint64_t skips = 0;
    enum imrec_status st;
    *mark = (struct journal_mark){0};
    *end = checked_lines_offset(l);
    while ((st = checked_lines_next(l, &line, err)) == IMREC_OK) {
        IMREC_TRY(stop_check(stop, err));
        skips += line.p[0] == 's';
        if (line.p[0] != 'm' || !checked_head_of(line, head, &report))
            continue;
        if (!checked_numbers_read(head, 'm', &next, sizeof(next) / sizeof(uint64_t)))
            return imrec_error_at(err, IMREC_ERR_CORRUPT, l->at, "the journal's mark '%.80s'",
                                  head);
        if (skips > most_skips && !next.complete)
            continue;
        *mark = next;
        *end = checked_lines_offset(l);
    }
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status visit_all(struct checked_lines *l, uint64_t end,
                                   const struct journal_visitor *v, struct imrec_error *err)
{
    struct bytes line, report;
    char head[CHECKED_HEAD_BYTES];
    checked_lines_rewind(l);
    IMREC_TRY(checked_lines_next(l, &line, err));
    while (checked_lines_offset(l) < end) {
        IMREC_TRY(stop_check(v->stop, err));
        IMREC_TRY(checked_lines_next(l, &line, err));
        if (!checked_head_of(line, head, &report))
            return imrec_error_at(err, IMREC_ERR_CORRUPT, l->at, "the journal's line is too long");
        IMREC_TRY(visit(head, report, v, err));
    }
    return IMREC_OK;
}

static enum imrec_status
open_lines(const char *uri, struct checked_lines *l, struct imrec_error *err)
{
    const size_t n = strlen(uri);
    char *part = imrec_realloc(NULL, n + sizeof(".part"), 1);
    if (part == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %s", uri);
    memcpy(part, uri, n);
    memcpy(part + n, ".part", sizeof(".part"));
    const enum imrec_status st = source_open(part, &l->source, err);
    imrec_free(part);
    return st;
}

enum imrec_status
journal_kind_of(const char *uri, const struct shard_kind **out, struct imrec_error *err)
{
    struct checked_lines l = {0};
    struct first_line first = {0};
    IMREC_TRY(open_lines(uri, &l, err));
    const enum imrec_status st = read_first(&l, uri, &first, err);
    source_close(l.source);
    checked_lines_free(&l);
    *out = first.kind;
    return st == IMREC_END || st == IMREC_ERR_CORRUPT ? IMREC_OK : st;
}

enum imrec_status journal_resume(const char *uri, uint64_t print, uint64_t total,
                                 uint64_t most_skips, const struct journal_visitor *v,
                                 struct journal *out, struct journal_mark *mark,
                                 struct imrec_error *err)
{
    struct checked_lines l = {0};
    uint64_t end = 0;
    *out = (struct journal){.pending = BUF_INIT(CHECKED_LINES_MAX)};
    IMREC_TRY(open_lines(uri, &l, err));
    enum imrec_status st = check_first(&l, uri, print, total, err);
    if (st == IMREC_OK)
        st = last_mark(&l, most_skips, v->stop, mark, &end, err);
    if (st == IMREC_OK)
        st = visit_all(&l, end, v, err);
    source_close(l.source);
    checked_lines_free(&l);
    if (st == IMREC_OK)
        st = sink_resume_log(uri, end, &out->sink, err);
    return st;
}

bool journal_is_of(const char *uri, uint64_t print, uint64_t total)
{
    struct checked_lines l = {0};
    bool is = false;
    if (open_lines(uri, &l, NULL) == IMREC_OK)
        is = check_first(&l, uri, print, total, NULL) == IMREC_OK;
    source_close(l.source);
    checked_lines_free(&l);
    return is;
}
