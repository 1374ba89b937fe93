/*
 * im2rec/set/journal.c - lines of text, each "check <blank> letter <blank> fields":
 *
 *     j VERSION FINGERPRINT TOTAL FORMAT                      the first line
 *     p INDEX WIDTH HEIGHT WARNINGS CLASS FILE_BYTES KIND     packed  (<tab> report line)
 *     s INDEX REASON                                          skipped (<tab> report line)
 *     f NUMBER RECORDS REC_BYTES REC_CRC IDX_BYTES IDX_CRC CRC_BYTES CRC_CRC
 *                                                             a shard is finished
 *     m NEXT PACKED LABELS, as f, LIST_BYTES LIST_CRC COMPLETE    a mark
 */
#include "im2rec/set/journal.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/shard/shard_kinds.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VERSION     2 /* 1 says no format */
#define CHECK_BYTES 8
#define HEAD_BYTES  384 /* of the fields of a line, the report excepted */
#define PENDING_MAX ((size_t)1 << 30)
#define PIECE_BYTES ((size_t)1 << 20)

static uint32_t check_of(const void *p, size_t n)
{
    const uint64_t print = fingerprint(FINGERPRINT_START, p, n);
    return (uint32_t)(print ^ print >> 32);
}

/* ---- writing ---------------------------------------------------------------------------- */

static enum imrec_status
put_line(struct journal *j, const char *head, struct bytes report, struct imrec_error *err)
{
    char check[CHECK_BYTES + 2];
    const size_t at = j->pending.n, n = strlen(head);
    IMREC_TRY(buf_append(&j->pending, "00000000 ", CHECK_BYTES + 1, err));
    IMREC_TRY(buf_append(&j->pending, head, n, err));
    if (report.n != 0) {
        IMREC_TRY(buf_append(&j->pending, "\t", 1, err));
        IMREC_TRY(buf_append(&j->pending, report.p, report.n, err));
    }
    const uint8_t *line = j->pending.p + at;
    snprintf(check, sizeof(check), "%08" PRIx32,
             check_of(line + CHECK_BYTES, j->pending.n - at - CHECK_BYTES));
    memcpy(j->pending.p + at, check, CHECK_BYTES);
    return buf_append(&j->pending, "\n", 1, err);
}

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
    *out = (struct journal){.pending = BUF_INIT(PENDING_MAX)};
    snprintf(head, sizeof(head), "j %d %016" PRIx64 " %" PRIu64 " %s", VERSION, print, total,
             kind->format);
    IMREC_TRY(sink_open_log(uri, &out->sink, err));
    enum imrec_status st = put_line(out, head, nothing, err);
    if (st == IMREC_OK)
        st = flush(out, err);
    if (st != IMREC_OK)
        journal_leave(out);
    return st;
}

enum imrec_status journal_image(struct journal *j, const struct outcome *o, struct bytes report,
                                struct imrec_error *err)
{
    char head[HEAD_BYTES];
    if (o->reason != REASON_NONE)
        snprintf(head, sizeof(head), "s %" PRIu64 " %s", o->index, reason_word(o->reason));
    else
        snprintf(head, sizeof(head), "p %" PRIu64 " %u %u %u %" PRId64 " %" PRIu64 " %s", o->index,
                 o->width, o->height, o->warnings, o->class_index, o->file_bytes, o->kind);
    return put_line(j, head, report, err);
}

/* "letter number number ..." */
static enum imrec_status
put_numbers(struct journal *j, char letter, const void *numbers, size_t n, struct imrec_error *err)
{
    const uint64_t *v = numbers;
    char head[HEAD_BYTES];
    size_t at = 1;
    head[0] = letter;
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(head + at, sizeof(head) - at, " %" PRIu64, v[i]);
    return put_line(j, head, nothing, err);
}

enum imrec_status
journal_end_shard(struct journal *j, const struct written_shard *s, struct imrec_error *err)
{
    return put_numbers(j, 'f', s, sizeof(*s) / sizeof(uint64_t), err);
}

enum imrec_status
journal_mark(struct journal *j, const struct journal_mark *m, struct imrec_error *err)
{
    IMREC_TRY(put_numbers(j, 'm', m, sizeof(*m) / sizeof(uint64_t), err));
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

struct lines {
    struct source *source;
    struct buf held; /* not yet given out */
    uint64_t at;     /* of held.p[0] in the file */
    size_t given;
};

/* The next line that is complete and whose check is right; IMREC_END: there is none. */
static enum imrec_status next_line(struct lines *l, struct bytes *out, struct imrec_error *err)
{
    uint8_t piece[4096];
    const uint8_t *end;
    size_t looked = 0;
    if (l->given >= PIECE_BYTES) { /* not at every line: that would move the rest each time */
        memmove(l->held.p, l->held.p + l->given, l->held.n - l->given);
        l->held.n -= l->given;
        l->at += l->given;
        l->given = 0;
    }
    for (;;) {
        const size_t n = l->held.n - l->given;
        const uint8_t *p = n != 0 ? l->held.p + l->given : NULL;
        if (n > looked && (end = memchr(p + looked, '\n', n - looked)) != NULL) {
            *out = (struct bytes){p, (size_t)(end - p)};
            break;
        }
        looked = n;
        const uint64_t have = l->at + l->held.n, left = l->source->size - have;
        const size_t want = left < sizeof(piece) ? (size_t)left : sizeof(piece);
        if (want == 0)
            return IMREC_END;
        IMREC_TRY(source_read(l->source, have, piece, want, err));
        IMREC_TRY(buf_append(&l->held, piece, want, err));
    }
    char check[CHECK_BYTES + 2];
    if (out->n < CHECK_BYTES + 4)
        return IMREC_END;
    snprintf(check, sizeof(check), "%08" PRIx32,
             check_of(out->p + CHECK_BYTES, out->n - CHECK_BYTES));
    if (memcmp(check, out->p, CHECK_BYTES) != 0)
        return IMREC_END; /* torn: the machine stopped while it was written */
    l->given += out->n + 1;
    *out = (struct bytes){out->p + CHECK_BYTES + 1, out->n - CHECK_BYTES - 1};
    return IMREC_OK;
}

static void rewind_lines(struct lines *l)
{
    l->at = 0;
    l->given = l->held.n = 0;
}

/* Cuts the report line off and gives the fields as text. false: too long for any of ours. */
static bool head_of(struct bytes line, char head[HEAD_BYTES], struct bytes *report)
{
    const uint8_t *tab = memchr(line.p, '\t', line.n);
    const size_t n = tab != NULL ? (size_t)(tab - line.p) : line.n;
    *report = tab != NULL ? (struct bytes){tab + 1, line.n - n - 1} : nothing;
    if (n >= HEAD_BYTES)
        return false;
    memcpy(head, line.p, n);
    head[n] = '\0';
    return strlen(head) == n;
}

/* The reverse of put_numbers(): exactly n of them. */
static bool read_numbers(const char *head, char letter, void *numbers, size_t n)
{
    uint64_t *v = numbers;
    struct bytes rest = {(const uint8_t *)head + 1, strlen(head) - 1};
    if (head[0] != letter)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!text_to_u64(text_word(&rest), &v[i]))
            return false;
    return rest.n == 0;
}

static bool read_skip(const char *head, struct outcome *o)
{
    int at = 0;
    if (sscanf(head, "s %" SCNu64 " %n", &o->index, &at) != 1 || at == 0)
        return false;
    o->reason = reason_find(head + at, strlen(head + at));
    return o->reason != REASON_NONE;
}

static bool read_packed(const char *head, struct outcome *o)
{
    int at = 0;
    if (sscanf(head, "p %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNd64 " %" SCNu64 "%n",
               &o->index, &o->width, &o->height, &o->warnings, &o->class_index, &o->file_bytes,
               &at) != 6 ||
        at == 0 || head[at] != ' ')
        return false;
    snprintf(o->kind, sizeof(o->kind), "%s", head + at + 1);
    return true;
}

static enum imrec_status visit(const char *head, struct bytes report,
                               const struct journal_visitor *v, struct imrec_error *err)
{
    struct outcome o = {.class_index = -1};
    struct written_shard s;
    if (head[0] == 'm')
        return IMREC_OK;
    if (head[0] == 's' ? read_skip(head, &o) : head[0] == 'p' && read_packed(head, &o))
        return v->image(v->user, &o, report, err);
    if (read_numbers(head, 'f', &s, sizeof(s) / sizeof(uint64_t)))
        return v->shard(v->user, &s, err);
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

static enum imrec_status
read_first(struct lines *l, const char *uri, struct first_line *out, struct imrec_error *err)
{
    struct bytes line, report;
    char head[HEAD_BYTES];
    int at = 0;
    *out = (struct first_line){0};
    IMREC_TRY(next_line(l, &line, err));
    if (!head_of(line, head, &report) || sscanf(head, "j %d %" SCNx64 " %" SCNu64 "%n",
                                                &out->version, &out->print, &out->total, &at) != 3)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0, "%s.part is not a journal of im2rec", uri);
    if (head[at] == ' ')
        out->kind = shard_kind_of_format(head + at + 1);
    return IMREC_OK;
}

static enum imrec_status check_first(struct lines *l, const char *uri, uint64_t print,
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
static enum imrec_status last_mark(struct lines *l, uint64_t most_skips, const struct stop *stop,
                                   struct journal_mark *mark, uint64_t *end,
                                   struct imrec_error *err)
{
    struct bytes line, report;
    struct journal_mark next;
    char head[HEAD_BYTES];
    uint64_t skips = 0;
    enum imrec_status st;
    *mark = (struct journal_mark){0};
    *end = l->at + l->given;
    while ((st = next_line(l, &line, err)) == IMREC_OK) {
        IMREC_TRY(stop_check(stop, err));
        skips += line.p[0] == 's';
        if (line.p[0] != 'm' || !head_of(line, head, &report))
            continue;
        if (!read_numbers(head, 'm', &next, sizeof(next) / sizeof(uint64_t)))
            return imrec_error_at(err, IMREC_ERR_CORRUPT, l->at, "the journal's mark '%.80s'",
                                  head);
        if (skips > most_skips && !next.complete)
            continue;
        *mark = next;
        *end = l->at + l->given;
    }
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status
visit_all(struct lines *l, uint64_t end, const struct journal_visitor *v, struct imrec_error *err)
{
    struct bytes line, report;
    char head[HEAD_BYTES];
    rewind_lines(l);
    IMREC_TRY(next_line(l, &line, err));
    while (l->at + l->given < end) {
        IMREC_TRY(stop_check(v->stop, err));
        IMREC_TRY(next_line(l, &line, err));
        if (!head_of(line, head, &report))
            return imrec_error_at(err, IMREC_ERR_CORRUPT, l->at, "the journal's line is too long");
        IMREC_TRY(visit(head, report, v, err));
    }
    return IMREC_OK;
}

static enum imrec_status open_lines(const char *uri, struct lines *l, struct imrec_error *err)
{
    const size_t n = strlen(uri);
    char *part = imrec_realloc(NULL, n + sizeof(".part"), 1);
    if (part == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %s", uri);
    memcpy(part, uri, n);
    memcpy(part + n, ".part", sizeof(".part"));
    l->held = BUF_INIT(PENDING_MAX);
    const enum imrec_status st = source_open(part, &l->source, err);
    imrec_free(part);
    return st;
}

enum imrec_status
journal_kind_of(const char *uri, const struct shard_kind **out, struct imrec_error *err)
{
    struct lines l = {0};
    struct first_line first = {0};
    IMREC_TRY(open_lines(uri, &l, err));
    const enum imrec_status st = read_first(&l, uri, &first, err);
    source_close(l.source);
    buf_free(&l.held);
    *out = first.kind;
    return st == IMREC_END || st == IMREC_ERR_CORRUPT ? IMREC_OK : st;
}

enum imrec_status journal_resume(const char *uri, uint64_t print, uint64_t total,
                                 uint64_t most_skips, const struct journal_visitor *v,
                                 struct journal *out, struct journal_mark *mark,
                                 struct imrec_error *err)
{
    struct lines l = {0};
    uint64_t end = 0;
    *out = (struct journal){.pending = BUF_INIT(PENDING_MAX)};
    IMREC_TRY(open_lines(uri, &l, err));
    enum imrec_status st = check_first(&l, uri, print, total, err);
    if (st == IMREC_OK)
        st = last_mark(&l, most_skips, v->stop, mark, &end, err);
    if (st == IMREC_OK)
        st = visit_all(&l, end, v, err);
    source_close(l.source);
    buf_free(&l.held);
    if (st == IMREC_OK)
        st = sink_resume_log(uri, end, &out->sink, err);
    return st;
}

bool journal_is_of(const char *uri, uint64_t print, uint64_t total)
{
    struct lines l = {0};
    bool is = false;
    if (open_lines(uri, &l, NULL) == IMREC_OK)
        is = check_first(&l, uri, print, total, NULL) == IMREC_OK;
    source_close(l.source);
    buf_free(&l.held);
    return is;
}
