/* im2rec/item/skip_report.c */
#include "im2rec/item/skip_report.h"

#include "formats/json_write.h"
#include "formats/text.h"
#include "im2rec/item/read_file.h"

#include <string.h>

struct report_line report_line_of(const char *path, const char *why, enum reason reason)
{
    const struct bytes name = {(const uint8_t *)path, strlen(path)};
    return (struct report_line){name, why, reason, 0, 0};
}

enum imrec_status
report_write(struct buf *out, const struct report_line *l, struct imrec_error *err)
{
    struct json_writer w = {.out = out, .err = err, .shown = true};
    char room[IMAGE_PATH_MAX];
    json_write_object(&w, NULL, JSON_TIGHT);
    json_write_bytes(&w, "path", file_public_name(l->path, room));
    if (l->line != 0)
        json_write_u64(&w, "line", l->line);
    if (l->reason == REASON_NONE) {
        json_write_text(&w, "result", "mended");
        json_write_u64(&w, "warnings", l->warnings);
    } else {
        json_write_text(&w, "result", "skipped");
        json_write_text(&w, "code", reason_word(l->reason));
    }
    json_write_text(&w, "reason", l->why);
    json_write_end(&w);
    return w.status;
}

enum imrec_status report_text(struct buf *out, struct bytes text, struct imrec_error *err)
{
    return json_write_escaped(out, text, true, err);
}

/* ---- reading: what report_write() writes, no other JSON, and with bytes that are no UTF-8 ---- */

/* Where text goes of which only the end, or only the beginning, may have room. */
struct taken {
    char *to;
    size_t room;   /* the NUL included */
    uint64_t skip; /* bytes at the beginning that do not fit */
    uint64_t n;    /* bytes so far */
};

static void take_byte(struct taken *t, uint32_t byte)
{
    if (t->n >= t->skip && t->n - t->skip + 1 < t->room)
        t->to[t->n - t->skip] = (char)byte;
    t->n++;
}

static void take_code(struct taken *t, uint32_t c)
{
    if (c >= 0xdc80 && c <= 0xdcff) {
        take_byte(t, c - 0xdc00);
    } else if (c < 0x80) {
        take_byte(t, c);
    } else if (c < 0x800) {
        take_byte(t, 0xc0 | c >> 6);
        take_byte(t, 0x80 | (c & 63));
    } else {
        take_byte(t, 0xe0 | c >> 12);
        take_byte(t, 0x80 | (c >> 6 & 63));
        take_byte(t, 0x80 | (c & 63));
    }
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What follows a backslash; bytes of it, 0: nothing that report_text() writes. */
static size_t take_escape(struct bytes b, struct taken *t)
{
    uint32_t c = 0;
    if (b.n != 0 && (b.p[0] == '"' || b.p[0] == '\\')) {
        take_byte(t, b.p[0]);
        return 1;
    }
    if (b.n < 5 || b.p[0] != 'u')
        return 0;
    for (size_t i = 1; i < 5; i++) {
        const int digit = hex_digit(b.p[i]);
        if (digit < 0)
            return 0;
        c = c << 4 | (uint32_t)digit;
    }
    take_code(t, c);
    return 5;
}

/* The text up to its closing quote, which is cut off, too. */
static bool take_text(struct bytes *rest, struct taken *t)
{
    size_t at = 0;
    t->n = 0;
    while (at < rest->n && rest->p[at] != '"') {
        const uint8_t c = rest->p[at++];
        if (c != '\\') {
            take_byte(t, c);
            continue;
        }
        const size_t n = take_escape((struct bytes){rest->p + at, rest->n - at}, t);
        if (n == 0)
            return false;
        at += n;
    }
    if (at == rest->n)
        return false;
    *rest = (struct bytes){rest->p + at + 1, rest->n - at - 1};
    const uint64_t kept = t->n > t->skip ? t->n - t->skip : 0;
    t->to[kept < t->room ? kept : t->room - 1] = '\0';
    return true;
}

/* Of a path that is too long the end is what tells files apart. */
static bool take_path(struct bytes *rest, char *out, size_t room)
{
    static const char dots[] = "...";
    struct bytes again = *rest;
    struct taken t = {out, room, 0, 0};
    if (!take_text(rest, &t))
        return false;
    if (t.n < room)
        return true;
    t = (struct taken){out + sizeof(dots) - 1, room - (sizeof(dots) - 1), 0, t.n};
    t.skip = t.n - (t.room - 1);
    (void)take_text(&again, &t);
    char *end = t.to; /* not in the middle of a character */
    while (((uint8_t)*end & 0xc0) == 0x80)
        end++;
    memmove(t.to, end, strlen(end) + 1);
    memcpy(out, dots, sizeof(dots) - 1);
    return true;
}

static bool take(struct bytes *rest, const char *text)
{
    const size_t n = strlen(text);
    if (rest->n < n || memcmp(rest->p, text, n) != 0)
        return false;
    *rest = (struct bytes){rest->p + n, rest->n - n};
    return true;
}

static bool take_number(struct bytes *rest, uint64_t *out)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
        n++;
    if (!text_to_u64((struct bytes){rest->p, n}, out))
        return false;
    *rest = (struct bytes){rest->p + n, rest->n - n};
    return true;
}

static bool read_line(struct bytes line, struct imrec_pack_skip *out)
{
    struct taken code = {out->code, sizeof(out->code), 0, 0};
    struct taken reason = {out->reason, sizeof(out->reason), 0, 0};
    return take(&line, "{\"path\":\"") && take_path(&line, out->path, sizeof(out->path)) &&
           (!take(&line, ",\"line\":") || take_number(&line, &out->line)) &&
           take(&line, ",\"result\":\"skipped\",\"code\":\"") && take_text(&line, &code) &&
           take(&line, ",\"reason\":\"") && take_text(&line, &reason) && take(&line, "}") &&
           line.n == 0;
}

bool report_read(struct bytes line, struct imrec_pack_skip *out)
{
    *out = (struct imrec_pack_skip){0};
    if (read_line(line, out))
        return true;
    *out = (struct imrec_pack_skip){0};
    return false;
}
