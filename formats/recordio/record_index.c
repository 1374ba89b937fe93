/*
 * formats/recordio/record_index.c - .idx, the text with the place of every record.
 *
 * Fourteen million lines are normal, so the usual line is read digit by digit in place; only
 * another line is cut out and read again, to say what is wrong with it.
 */
#include "formats/recordio/record_index.h"

#include "base/error.h"
#include "formats/recordio/recordio.h"
#include "formats/text.h"

#include <inttypes.h>

void record_index_begin(struct index_cursor *c, const char *name, struct bytes text)
{
    static const uint8_t nothing[1];
    const uint8_t *p = text.n != 0 ? text.p : nothing;
    *c = (struct index_cursor){name, p, p + text_mark(p, text.n), p + text.n, 0};
}

/* Digits at p into *v; returns what follows them, or NULL: none, or 20 and more. Nineteen
 * cannot overflow; the few numbers of twenty that fit are left to look_closer(). */
static inline const uint8_t *read_digits(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
    const uint8_t *first = p;
    uint64_t n = 0;
    for (unsigned digit; p < end && (digit = (unsigned)*p - '0') <= 9; p++)
        n = 10 * n + digit;
    *v = n;
    return p == first || p - first > 19 ? NULL : p;
}

/* The start of the line after the one that ends at p, or NULL if it does not end there. */
static inline const uint8_t *line_end(const uint8_t *p, const uint8_t *end)
{
    if (p == end || *p == '\n')
        return p + (p < end);
    if (*p != '\r')
        return NULL;
    return p + (p + 1 < end && p[1] == '\n' ? 2 : 1);
}

static inline const uint8_t *
read_line(const uint8_t *p, const uint8_t *end, uint64_t *key, uint64_t *offset)
{
    const uint8_t *tab = read_digits(p, end, key);
    if (tab == NULL || tab == end || *tab != '\t')
        return NULL;
    p = read_digits(tab + 1, end, offset);
    return p == NULL ? NULL : line_end(p, end);
}

static enum imrec_status
refuse(const struct index_cursor *c, const char *what, struct bytes word, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_CORRUPT, (uint64_t)(c->pos - c->begin),
                          "%s line %" PRIu64 ": %s %s; a line is key, tab, offset", c->name,
                          c->line, text_quote(word).s, what);
}

/* The line at c->pos by the slow way: blanks between and around, any number of 64 bits. */
static enum imrec_status look_closer(struct index_cursor *c, struct bytes line, uint64_t *key,
                                     uint64_t *offset, struct imrec_error *err)
{
    struct bytes rest = line;
    const struct bytes first = text_word(&rest), second = text_word(&rest);
    if (!text_to_u64(first, key))
        return refuse(c, "is not a key from 0 to 18446744073709551615", first, err);
    if (second.n == 0)
        return refuse(c, "lacks an offset", text_trim(line), err);
    if (!text_to_u64(second, offset))
        return refuse(c, "is not an offset from 0 to 18446744073709551615", second, err);
    if (text_trim(rest).n != 0)
        return refuse(c, "follows the offset", text_trim(rest), err);
    return IMREC_OK;
}

enum imrec_status
record_index_next(struct index_cursor *c, uint64_t *key, uint64_t *offset, struct imrec_error *err)
{
    for (;; c->pos = line_end(c->pos, c->end)) { /* past blank lines */
        const uint8_t *text = c->pos;
        if (text == c->end)
            return IMREC_END;
        c->line++;
        const uint8_t *next = read_line(text, c->end, key, offset);
        if (next == NULL) {
            const uint8_t *stop = text;
            while (line_end(stop, c->end) == NULL)
                stop++;
            const struct bytes line = {text, (size_t)(stop - text)};
            if (text_trim(line).n == 0) {
                c->pos = stop;
                continue;
            }
            IMREC_TRY(look_closer(c, line, key, offset, err));
            next = line_end(stop, c->end);
        }
        if (*offset % RECORDIO_ALIGN != 0)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, (uint64_t)(text - c->begin),
                                  "%s line %" PRIu64 ": offset %" PRIu64
                                  " is not a multiple of 4; records begin only at those",
                                  c->name, c->line, *offset);
        c->pos = next;
        return IMREC_OK;
    }
}

enum imrec_status
record_index_write(struct buf *out, uint64_t key, uint64_t offset, struct imrec_error *err)
{
    char line[42];
    size_t n = text_from_u64(key, line);
    line[n++] = '\t';
    n += text_from_u64(offset, line + n);
    line[n++] = '\n';
    return buf_append(out, line, n, err);
}
