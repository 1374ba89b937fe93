/* formats/text_lines.c - lines, words and quotes of text formats. */
#include "formats/text.h"

#include "base/shown.h"

#include <string.h>

static bool is_line_end(uint8_t c)
{
    return c == '\n' || c == '\r';
}

/* First byte c of [p, end), or end. */
static const uint8_t *find(const uint8_t *p, const uint8_t *end, int c)
{
    const uint8_t *hit = p == end ? NULL : memchr(p, c, (size_t)(end - p));
    return hit != NULL ? hit : end;
}

static void advance(struct text_lines *t, size_t n)
{
    t->rest = (struct bytes){t->rest.p + n, t->rest.n - n};
    t->next += n;
}

void text_lines_begin(struct text_lines *t, struct bytes piece, uint64_t offset,
                      uint64_t lines_before)
{
    *t = (struct text_lines){.number = lines_before, .next = offset};
    text_lines_feed(t, piece);
    if (offset == 0 && piece.n > 0)
        advance(t, text_mark(piece.p, piece.n));
}

void text_lines_feed(struct text_lines *t, struct bytes piece)
{
    t->rest = piece;
    if (t->after_cr && piece.n > 0 && piece.p[0] == '\n')
        advance(t, 1);
    t->after_cr = t->after_cr && piece.n == 0;
    t->lf = t->rest.n == 0 ? t->rest.p : find(t->rest.p, t->rest.p + t->rest.n, '\n');
}

bool text_lines_next(struct text_lines *t, struct bytes *line)
{
    if (t->rest.n == 0)
        return false;
    const uint8_t *p = t->rest.p, *end = p + t->rest.n;
    if (t->lf < p) /* looked for once a line, so that a text of CRs is not searched for ever */
        t->lf = find(p, end, '\n');
    const uint8_t *stop = find(p, t->lf, '\r'), *after = stop;
    if (after < end)
        after += *after == '\r' && after + 1 < end && after[1] == '\n' ? 2 : 1;
    t->after_cr = stop < end && after == end && *stop == '\r' && after - stop == 1;
    *line = (struct bytes){p, (size_t)(stop - p)};
    t->number++;
    t->offset = t->next;
    advance(t, (size_t)(after - p));
    return true;
}

size_t text_whole_lines(const uint8_t *p, size_t n)
{
    while (n > 0 && !is_line_end(p[n - 1]))
        n--;
    return n;
}

size_t text_mark(const uint8_t *p, size_t n)
{
    return n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

size_t text_sync(const uint8_t *p, size_t n, enum text_sync_state *state)
{
    size_t i = 0;
    while (*state == TEXT_SYNC_LINE && i < n)
        if (is_line_end(p[i++]))
            *state = TEXT_SYNC_ENDS;
    while (*state == TEXT_SYNC_ENDS && i < n) {
        if (is_line_end(p[i]))
            i++;
        else
            *state = TEXT_SYNC_DONE;
    }
    return i;
}

struct bytes text_trim(struct bytes b)
{
    while (b.n > 0 && text_is_blank(b.p[0]))
        b = (struct bytes){b.p + 1, b.n - 1};
    while (b.n > 0 && text_is_blank(b.p[b.n - 1]))
        b.n--;
    return b;
}

struct bytes text_word(struct bytes *rest)
{
    while (rest->n > 0 && text_is_blank(rest->p[0]))
        *rest = (struct bytes){rest->p + 1, rest->n - 1};
    struct bytes word = {rest->p, 0};
    while (word.n < rest->n && !text_is_blank(word.p[word.n]))
        word.n++;
    *rest = (struct bytes){word.p + word.n, rest->n - word.n};
    return word;
}

bool text_is_utf8(struct bytes b)
{
    for (size_t i = 0, step; i < b.n; i += step)
        if ((step = utf8_sequence(b.p + i, b.n - i)) == 0)
            return false;
    return true;
}

struct text_quote text_quote(struct bytes b)
{
    enum { ROOM = sizeof(((struct text_quote *)0)->s) - sizeof("'...'") };
    struct text_quote q = {"'"};
    char shown[SHOWN_BYTES];
    size_t n = 1, i = 0;
    while (i < b.n) {
        const size_t take = shown_next((const char *)b.p + i, b.n - i, shown);
        const size_t bytes = strlen(shown);
        if (n + bytes > ROOM)
            break;
        memcpy(q.s + n, shown, bytes);
        n += bytes;
        i += take;
    }
    strcpy(q.s + n, i < b.n ? "...'" : "'");
    return q;
}
