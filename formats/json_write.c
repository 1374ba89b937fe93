/* formats/json_write.c - separators between values, and the escapes of texts. */
#include "formats/json_write.h"

#include "base/error.h"
#include "base/shown.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---------------------------------------------------------------------------------- */

static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character that is_plain() does not know, or of several bytes; returns how many these are. */
static size_t escape(struct bytes text, bool shown, char out[SHOWN_BYTES])
{
    const uint8_t c = text.p[0];
    const size_t sequence = utf8_sequence(text.p, text.n);
    if (c == '"' || c == '\\') {
        (void)snprintf(out, SHOWN_BYTES, "\\%c", c);
    } else if (sequence == 0 || c < 0x20 || (shown && c == 0x7f)) {
        (void)snprintf(out, SHOWN_BYTES, "\\u%s%02x", c < 0x80 ? "00" : "dc", c);
    } else if (shown) { /* "\u202e" means the same here */
        return shown_next((const char *)text.p, text.n, out);
    } else {
        memcpy(out, text.p, sequence);
        out[sequence] = '\0';
    }
    return sequence != 0 ? sequence : 1;
}

enum imrec_status
json_write_escaped(struct buf *out, struct bytes text, bool shown, struct imrec_error *err)
{
    char escaped[SHOWN_BYTES];
    for (size_t at = 0; at < text.n;) {
        size_t end = at;
        while (end < text.n && is_plain(text.p[end]))
            end++;
        IMREC_TRY(buf_append(out, text.p + at, end - at, err));
        at = end;
        if (at == text.n)
            break;
        at += escape((struct bytes){text.p + at, text.n - at}, shown, escaped);
        IMREC_TRY(buf_append(out, escaped, strlen(escaped), err));
    }
    return IMREC_OK;
}

/* ---- separators between values -------------------------------------------------------------- */

static void put(struct json_writer *w, const char *text)
{
    if (w->status == IMREC_OK)
        w->status = buf_append(w->out, text, strlen(text), w->err);
}

static void put_quoted(struct json_writer *w, struct bytes text)
{
    put(w, "\"");
    if (w->status == IMREC_OK)
        w->status = json_write_escaped(w->out, text, w->shown, w->err);
    put(w, "\"");
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static void new_line(struct json_writer *w)
{
    put(w, "\n");
    for (int i = 0; i < w->depth; i++)
        put(w, "  ");
}

static void begin_value(struct json_writer *w, const char *key)
{
    struct json_nest *in = w->depth > 0 ? &w->nest[w->depth - 1] : NULL;
    if (in != NULL && in->begun)
        put(w, in->layout == JSON_SPACED ? ", " : ",");
    if (in != NULL && in->layout == JSON_LINES)
        new_line(w);
    if (in != NULL)
        in->begun = true;
    if (key != NULL) {
        put_quoted(w, bytes_of(key));
        put(w, in != NULL && in->layout == JSON_TIGHT ? ":" : ": ");
    }
}

static void
begin_nest(struct json_writer *w, const char *key, enum json_layout layout, const char *brackets)
{
    const char opening[] = {brackets[0], '\0'};
    begin_value(w, key);
    if (w->depth == JSON_WRITE_DEPTH)
        abort(); /* a bug of ours: no data nests what we write */
    put(w, opening);
    w->nest[w->depth++] = (struct json_nest){layout, brackets[1], false};
}

void json_write_object(struct json_writer *w, const char *key, enum json_layout layout)
{
    begin_nest(w, key, layout, "{}");
}

void json_write_array(struct json_writer *w, const char *key, enum json_layout layout)
{
    begin_nest(w, key, layout, "[]");
}

void json_write_end(struct json_writer *w)
{
    const struct json_nest *n = &w->nest[--w->depth];
    const char closing[] = {n->closing, '\0'};
    if (n->begun && n->layout == JSON_LINES)
        new_line(w);
    put(w, closing);
}

/* ---- values --------------------------------------------------------------------------------- */

void json_write_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_bytes(w, key, bytes_of(text));
}

void json_write_bytes(struct json_writer *w, const char *key, struct bytes text)
{
    begin_value(w, key);
    put_quoted(w, text);
}

void json_write_u64(struct json_writer *w, const char *key, uint64_t v)
{
    char digits[21] = {0};
    text_from_u64(v, digits);
    begin_value(w, key);
    put(w, digits);
}

void json_write_i64(struct json_writer *w, const char *key, int64_t v)
{
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%" PRId64, v);
    begin_value(w, key);
    put(w, digits);
}

void json_write_bool(struct json_writer *w, const char *key, bool v)
{
    begin_value(w, key);
    put(w, v ? "true" : "false");
}

void json_write_null(struct json_writer *w, const char *key)
{
    begin_value(w, key);
    put(w, "null");
}
