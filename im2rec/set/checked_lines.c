/* im2rec/set/checked_lines.c */
#include "im2rec/set/checked_lines.h"

#include "base/error.h"
#include "formats/text.h"
#include "im2rec/item/pack_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CHECK_BYTES 8
#define PACKED      'p'
#define REWRITTEN   'r'
#define PIECE_BYTES ((size_t)1 << 20)

static uint32_t check_of(const void *p, size_t n)
{
    const uint64_t print = fingerprint(FINGERPRINT_START, p, n);
    return (uint32_t)(print ^ print >> 32);
}

/* ---- writing ---------------------------------------------------------------------------- */

enum imrec_status
checked_line_put(struct buf *out, const char *head, struct bytes rest, struct imrec_error *err)
{
    char check[CHECK_BYTES + 2];
    const size_t at = out->n, n = strlen(head);
    IMREC_TRY(buf_append(out, "00000000 ", CHECK_BYTES + 1, err));
    IMREC_TRY(buf_append(out, head, n, err));
    if (rest.n != 0) {
        IMREC_TRY(buf_append(out, "\t", 1, err));
        IMREC_TRY(buf_append(out, rest.p, rest.n, err));
    }
    const uint8_t *line = out->p + at;
    snprintf(check, sizeof(check), "%08" PRIx32,
             check_of(line + CHECK_BYTES, out->n - at - CHECK_BYTES));
    memcpy(out->p + at, check, CHECK_BYTES);
    return buf_append(out, "\n", 1, err);
}

enum imrec_status checked_numbers_put(struct buf *out, char letter, const void *numbers, size_t n,
                                      struct imrec_error *err)
{
    const uint64_t *v = numbers;
    char head[CHECKED_HEAD_BYTES];
    size_t at = 1;
    head[0] = letter;
    head[1] = '\0';
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(head + at, sizeof(head) - at, " %" PRIu64, v[i]);
    return checked_line_put(out, head, (struct bytes){NULL, 0}, err);
}

void checked_outcome_head(const struct outcome *o, char head[CHECKED_HEAD_BYTES])
{
    if (o->reason != REASON_NONE)
        snprintf(head, CHECKED_HEAD_BYTES, "s %" PRIu64 " %s", o->index, reason_word(o->reason));
    else
        snprintf(head, CHECKED_HEAD_BYTES, "%c %" PRIu64 " %u %u %u %" PRId64 " %" PRIu64 " %s",
                 o->rewritten ? REWRITTEN : PACKED, o->index, o->width, o->height, o->warnings,
                 o->class_index, o->file_bytes, o->kind);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* Not at every line: that would move the rest each time. */
static void forget_given(struct checked_lines *l)
{
    if (l->given < PIECE_BYTES)
        return;
    memmove(l->held.p, l->held.p + l->given, l->held.n - l->given);
    l->held.n -= l->given;
    l->at += l->given;
    l->given = 0;
}

static enum imrec_status
whole_line(struct checked_lines *l, struct bytes *out, struct imrec_error *err)
{
    uint8_t piece[4096];
    const uint8_t *end;
    size_t looked = 0;
    l->held.max = CHECKED_LINES_MAX;
    forget_given(l);
    for (;;) {
        const size_t n = l->held.n - l->given;
        const uint8_t *p = n != 0 ? l->held.p + l->given : NULL;
        if (n > looked && (end = memchr(p + looked, '\n', n - looked)) != NULL) {
            *out = (struct bytes){p, (size_t)(end - p)};
            return IMREC_OK;
        }
        looked = n;
        const uint64_t have = l->at + l->held.n, left = l->source->size - have;
        const size_t want = left < sizeof(piece) ? (size_t)left : sizeof(piece);
        if (want == 0)
            return IMREC_END;
        IMREC_TRY(source_read(l->source, have, piece, want, err));
        IMREC_TRY(buf_append(&l->held, piece, want, err));
    }
}

bool checked_line_read(struct bytes line, struct bytes *out)
{
    char check[CHECK_BYTES + 2];
    if (line.n < CHECK_BYTES + 2)
        return false;
    snprintf(check, sizeof(check), "%08" PRIx32,
             check_of(line.p + CHECK_BYTES, line.n - CHECK_BYTES));
    *out = (struct bytes){line.p + CHECK_BYTES + 1, line.n - CHECK_BYTES - 1};
    return memcmp(check, line.p, CHECK_BYTES) == 0;
}

enum imrec_status
checked_lines_next(struct checked_lines *l, struct bytes *out, struct imrec_error *err)
{
    struct bytes line;
    IMREC_TRY(whole_line(l, &line, err));
    if (!checked_line_read(line, out))
        return IMREC_END; /* torn: the machine stopped while it was written */
    l->given += line.n + 1;
    return IMREC_OK;
}

uint64_t checked_lines_offset(const struct checked_lines *l)
{
    return l->at + l->given;
}

void checked_lines_rewind(struct checked_lines *l)
{
    l->at = 0;
    l->given = l->held.n = 0;
}

void checked_lines_free(struct checked_lines *l)
{
    buf_free(&l->held);
}

/* ---- what lines say --------------------------------------------------------------------- */

bool checked_head_of(struct bytes line, char head[CHECKED_HEAD_BYTES], struct bytes *rest)
{
    const uint8_t *tab = memchr(line.p, '\t', line.n);
    const size_t n = tab != NULL ? (size_t)(tab - line.p) : line.n;
    *rest = tab != NULL ? (struct bytes){tab + 1, line.n - n - 1} : (struct bytes){NULL, 0};
    if (n >= CHECKED_HEAD_BYTES)
        return false;
    memcpy(head, line.p, n);
    head[n] = '\0';
    return strlen(head) == n;
}

bool checked_numbers_read(const char *head, char letter, void *numbers, size_t n)
{
    uint64_t *v = numbers;
    if (head[0] != letter)
        return false;
    struct bytes rest = {(const uint8_t *)head + 1, strlen(head) - 1};
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
    o->rewritten = head[0] == REWRITTEN;
    if (sscanf(head + 1,
               " %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNd64 " %" SCNu64 "%n",
               &o->index, &o->width, &o->height, &o->warnings, &o->class_index, &o->file_bytes,
               &at) != 6 ||
        at == 0 || head[1 + at] != ' ')
        return false;
    snprintf(o->kind, sizeof(o->kind), "%s", head + 1 + at + 1);
    return true;
}

bool checked_outcome_read(const char *head, struct outcome *o)
{
    *o = (struct outcome){.class_index = -1};
    if (head[0] == 's')
        return read_skip(head, o);
    return (head[0] == PACKED || head[0] == REWRITTEN) && read_packed(head, o);
}
