/*
 * im2rec/list/list_reader.c - a .lst that streams: a first pass finds the share's bytes, counts its
 * lines and takes their fingerprint, a second one delivers them.
 *
 * Shares are cut by bytes with dmlc-core's rule for text: a line belongs to the share in which
 * it begins, one that begins exactly at a cut to the share before.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "formats/crc32c.h"
#include "formats/set/image_list.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/list/job.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <string.h>

#define PIECE_BYTES    ((size_t)1 << 20)
#define LINE_MAX_BYTES ((size_t)64 << 20)

struct list_reader {
    struct source *source;
    char *name;
    uint64_t begin, end; /* of the share */
    uint64_t lines_before;
    uint64_t at; /* read so far */
    uint8_t *piece;
    size_t held, room; /* bytes in piece, of which the first `given` were handed out */
    size_t given;
    uint32_t widest; /* labels of a line of the list, all shares, by its tabs */
    struct image_list list;
    const struct stop *stop;
    bool checked; /* of a piece: its bytes must have: */
    uint32_t crc, wanted_crc;
};

/* The next piece of whole lines (or the rest of the share). IMREC_END: there is none. */
static enum imrec_status
next_piece(struct list_reader *r, struct bytes *out, struct imrec_error *err)
{
    r->held -= r->given;
    memmove(r->piece, r->piece + r->given, r->held);
    r->given = 0;
    for (;;) {
        IMREC_TRY(stop_check(r->stop, err));
        if (r->room - r->held < PIECE_BYTES) {
            uint8_t *grown = r->room < LINE_MAX_BYTES
                                 ? imrec_realloc(r->piece, r->room + 2 * PIECE_BYTES, 1)
                                 : NULL;
            if (grown == NULL)
                return imrec_error_at(
                    err, r->room < LINE_MAX_BYTES ? IMREC_ERR_NO_MEMORY : IMREC_ERR_LIMIT, r->at,
                    "%s: no room for a line of more than %zu bytes", r->name, r->held);
            r->piece = grown;
            r->room += 2 * PIECE_BYTES;
        }
        const uint64_t left = r->end - r->at;
        const size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        if (n != 0)
            IMREC_TRY(source_read(r->source, r->at, r->piece + r->held, n, err));
        if (r->checked)
            r->crc = crc32c(r->crc, r->piece + r->held, n);
        r->held += n;
        r->at += n;
        r->given = r->at == r->end ? r->held : text_whole_lines(r->piece, r->held);
        if (r->given != 0 || r->at == r->end)
            break;
    }
    *out = (struct bytes){r->piece, r->given};
    return r->given != 0 ? IMREC_OK : IMREC_END;
}

static void rewind_to(struct list_reader *r, uint64_t begin, uint64_t end)
{
    r->at = begin;
    r->end = end;
    r->held = r->given = 0;
}

/* Where the share's first line begins, for a cut at `at`. */
static enum imrec_status sync_to(struct list_reader *r, uint64_t *at, struct imrec_error *err)
{
    enum text_sync_state state = TEXT_SYNC_LINE;
    if (*at == 0 || *at == r->source->size)
        return IMREC_OK;
    while (state != TEXT_SYNC_DONE && *at < r->source->size) {
        const uint64_t left = r->source->size - *at;
        const size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        IMREC_TRY(source_read(r->source, *at, r->piece, n, err));
        *at += text_sync(r->piece, n, &state);
    }
    return IMREC_OK;
}

static enum imrec_status
find_share(struct list_reader *r, struct imrec_share share, struct imrec_error *err)
{
    const uint64_t size = r->source->size, count = (uint64_t)share.count;
    const uint64_t step = size / count + (size % count != 0);
    const uint64_t k = (uint64_t)share.index;
    r->begin = k != 0 && step > size / k ? size : step * k;
    r->end = step > size / (k + 1) ? size : step * (k + 1);
    if (r->begin == r->end)
        return IMREC_OK; /* both stay: an empty share, as in dmlc-core */
    IMREC_TRY(sync_to(r, &r->end, err));
    return sync_to(r, &r->begin, err);
}

/* A line is id, labels and path with tabs between. */
static uint32_t labels_of(struct bytes line)
{
    uint32_t tabs = 0;
    for (const uint8_t *at = line.p, *end = line.p + line.n;
         at < end && (at = memchr(at, '\t', (size_t)(end - at))) != NULL; at++)
        tabs++;
    return tabs > 1 ? tabs - 1 : 0;
}

/* Lines that hold something in [begin, end); *all counts the blank ones too. */
static enum imrec_status count_lines(struct list_reader *r, uint64_t begin, uint64_t end,
                                     uint64_t *lines, uint64_t *all, uint64_t *print,
                                     struct imrec_error *err)
{
    struct text_lines t;
    struct bytes piece, line;
    enum imrec_status st;
    bool first = true;
    const uint64_t kept = r->end;
    rewind_to(r, begin, end);
    *lines = *all = 0;
    while ((st = next_piece(r, &piece, err)) == IMREC_OK) {
        if (first)
            text_lines_begin(&t, piece, begin, 0);
        else
            text_lines_feed(&t, piece);
        first = false;
        *print = fingerprint(*print, piece.p, piece.n);
        while (text_lines_next(&t, &line)) {
            const uint32_t labels = labels_of(text_trim(line));
            *lines += text_trim(line).n != 0, ++*all;
            r->widest = labels > r->widest ? labels : r->widest;
        }
    }
    r->end = kept;
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status
open_text(struct list_reader *r, const char *path, const char *name, struct imrec_error *err)
{
    const size_t n = strlen(name) + 1;
    r->name = imrec_realloc(NULL, n, 1);
    r->piece = imrec_realloc(NULL, 2 * PIECE_BYTES, 1);
    r->room = 2 * PIECE_BYTES;
    if (r->name == NULL || r->piece == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to read it", path);
    memcpy(r->name, name, n);
    return r->source == NULL ? source_open(path, &r->source, err) : IMREC_OK;
}

static void begin_entries(struct list_reader *r, uint32_t label_width, uint64_t lines_before)
{
    image_list_begin(&r->list, r->name, label_width, (struct bytes){r->piece, 0}, r->begin,
                     lines_before);
    r->list.type = LIST_LABELS_FLOAT32;
    r->list.packs = true;
    r->lines_before = lines_before;
}

static enum imrec_status prepare(struct list_reader *r, const char *path, uint32_t label_width,
                                 struct imrec_share share, uint64_t *total, uint64_t *print,
                                 struct imrec_error *err)
{
    uint64_t before, after, lines_before = 0, all, ignored = 0;
    IMREC_TRY(open_text(r, path, path, err));
    IMREC_TRY(find_share(r, share, err));
    IMREC_TRY(count_lines(r, 0, r->begin, &before, &lines_before, &ignored, err));
    IMREC_TRY(count_lines(r, r->begin, r->end, total, &all, print, err));
    if (r->end < r->source->size) /* shares must agree on the widest label */
        IMREC_TRY(count_lines(r, r->end, r->source->size, &after, &all, &ignored, err));
    rewind_to(r, r->begin, r->end);
    begin_entries(r, label_width, lines_before);
    return IMREC_OK;
}

enum imrec_status list_open(const char *path, struct source *text, uint32_t label_width,
                            struct imrec_share share, const struct stop *stop,
                            struct list_reader **out, uint64_t *total, uint64_t *print,
                            struct imrec_error *err)
{
    struct list_reader *r = *out = imrec_zalloc(1, sizeof(*r));
    if (r == NULL) {
        source_close(text);
        return IMREC_NO_MEMORY(err, "%s: no memory to read it", path);
    }
    r->source = text;
    r->stop = stop;
    const enum imrec_status st = prepare(r, path, label_width, share, total, print, err);
    if (st != IMREC_OK) {
        list_close(r);
        *out = NULL;
    }
    return st;
}

void list_rewind(struct list_reader *r)
{
    rewind_to(r, r->begin, r->end);
    r->crc = 0;
    text_lines_begin(&r->list.lines, (struct bytes){r->piece, 0}, r->begin, r->lines_before);
}

void list_take_columns(struct list_reader *r, uint32_t columns)
{
    r->list.columns = columns;
}

void list_pack_first(struct list_reader *r)
{
    r->list.typed = 1;
}

uint32_t list_widest(const struct list_reader *r)
{
    return r->widest > r->list.columns ? r->widest - r->list.columns : 0;
}

void list_close(struct list_reader *r)
{
    if (r == NULL)
        return;
    image_list_end(&r->list);
    source_close(r->source);
    IMREC_FREE(r->piece, r->name, r);
}

/* ---- pieces ----------------------------------------------------------------------------- */

enum imrec_status list_open_piece(const char *path, const char *name, uint32_t label_width,
                                  const struct list_piece *piece, const struct stop *stop,
                                  struct list_reader **out, struct imrec_error *err)
{
    struct list_reader *r = *out = imrec_zalloc(1, sizeof(*r));
    if (r == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to read it", path);
    r->stop = stop;
    r->checked = true;
    r->wanted_crc = piece->crc;
    r->begin = piece->begin;
    enum imrec_status st = open_text(r, path, name, err);
    if (st == IMREC_OK && (piece->begin > piece->end || piece->end > r->source->size))
        st = imrec_fail(err, IMREC_ERR_CORRUPT,
                        "%s: it has %" PRIu64 " bytes, and had %" PRIu64
                        " at least when the plan was made",
                        path, r->source->size, piece->end);
    if (st != IMREC_OK) {
        list_close(r);
        *out = NULL;
        return st;
    }
    rewind_to(r, piece->begin, piece->end);
    begin_entries(r, label_width, piece->lines_before);
    return IMREC_OK;
}

static enum imrec_status check_piece(const struct list_reader *r, struct imrec_error *err)
{
    if (!r->checked || r->crc == r->wanted_crc)
        return IMREC_END;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, r->begin,
                          "%s: bytes %" PRIu64 " to %" PRIu64
                          " have changed since the plan was made",
                          r->name, r->begin, r->end);
}

/* Pieces as they come to be. */
struct cutting {
    const uint64_t *ends;
    uint64_t count, at; /* pieces; the one that is being filled */
    struct list_piece *pieces;
    uint64_t images;
};

/* The lines of a piece of text that begins at `base`. */
static void cut_text(struct cutting *c, struct text_lines *t, struct bytes text, uint64_t base)
{
    struct bytes line;
    uint64_t done = 0; /* bytes that are in a crc */
    while (text_lines_next(t, &line)) {
        if (text_trim(line).n == 0)
            continue;
        while (c->at + 1 < c->count && c->ends[c->at] == c->images) {
            struct list_piece *p = &c->pieces[c->at++];
            p->end = t->offset;
            p->crc = crc32c(p->crc, text.p + done, t->offset - base - done);
            done = t->offset - base;
            c->pieces[c->at] = (struct list_piece){t->offset, t->offset, t->number - 1, 0};
        }
        c->images++;
    }
    struct list_piece *p = &c->pieces[c->at];
    p->crc = crc32c(p->crc, text.p + done, text.n - done);
}

enum imrec_status list_cut(struct list_reader *r, const uint64_t *ends, uint64_t count,
                           struct list_piece *pieces, struct imrec_error *err)
{
    struct cutting c = {ends, count, 0, pieces, 0};
    struct text_lines t;
    struct bytes text;
    enum imrec_status st;
    bool first = true;
    const uint64_t lines_before = r->list.lines.number;
    pieces[0] = (struct list_piece){r->begin, r->begin, lines_before, 0};
    rewind_to(r, r->begin, r->end);
    while ((st = next_piece(r, &text, err)) == IMREC_OK) {
        if (first)
            text_lines_begin(&t, text, r->begin, lines_before);
        else
            text_lines_feed(&t, text);
        first = false;
        cut_text(&c, &t, text, r->at - r->held);
    }
    pieces[c.at].end = r->end;
    while (c.at + 1 < count) { /* empty ones */
        pieces[c.at + 1] = (struct list_piece){r->end, r->end, 0, 0};
        c.at++;
    }
    rewind_to(r, r->begin, r->end);
    return st == IMREC_END ? IMREC_OK : st;
}

enum imrec_status list_copy(struct list_reader *r, struct sink *to, struct imrec_error *err)
{
    uint64_t at = 0;
    while (at < r->source->size) {
        const uint64_t left = r->source->size - at;
        const size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        IMREC_TRY(stop_check(r->stop, err));
        IMREC_TRY(source_read(r->source, at, r->piece, n, err));
        IMREC_TRY(sink_append(to, r->piece, n, err));
        at += n;
    }
    return IMREC_OK;
}

/* ---- entries ---------------------------------------------------------------------------- */

/* *malformed: the line is, as *err says; the call after it continues. */
static enum imrec_status next_entry(struct list_reader *r, struct image_list_entry *e,
                                    bool *malformed, struct imrec_error *err)
{
    struct bytes piece;
    enum imrec_status st;
    *malformed = false;
    while ((st = image_list_next(&r->list, e, err)) == IMREC_END) {
        st = next_piece(r, &piece, err);
        if (st != IMREC_OK)
            return st == IMREC_END ? check_piece(r, err) : st;
        if (r->list.lines.next == 0) /* a byte order mark is no part of the first line */
            text_lines_begin(&r->list.lines, piece, 0, 0);
        else
            text_lines_feed(&r->list.lines, piece);
    }
    *malformed = st == IMREC_ERR_CORRUPT;
    return *malformed ? IMREC_OK : st;
}

enum imrec_status list_next(struct list_reader *r, struct pack_item *p, struct imrec_error *err)
{
    struct image_list_entry e;
    struct imrec_error own;
    bool malformed;
    const enum imrec_status st = next_entry(r, &e, &malformed, err != NULL ? err : &own);
    p->line = r->list.lines.number;
    if (malformed)
        pack_item_skip(p, REASON_LINE, "%s", err != NULL ? err->message : own.message);
    if (malformed || st != IMREC_OK)
        return st;
    p->id = e.id;
    p->label_count = e.label_count;
    IMREC_TRY(buf_append(&p->labels, e.labels, e.label_count * sizeof(float), err));
    const struct bytes columns = r->list.columns != 0 ? r->list.last : (struct bytes){e.path.p, 0};
    IMREC_TRY(buf_append(&p->text, columns.p, columns.n, err));
    IMREC_TRY(buf_append(&p->text, e.path.p, e.path.n, err));
    p->columns = (struct bytes){p->text.p, columns.n};
    p->path = (struct bytes){p->text.p + columns.n, e.path.n};
    pack_item_check_name(p);
    return IMREC_OK;
}
