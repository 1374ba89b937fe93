/* im2rec/skip_report.c */
#include "im2rec/skip_report.h"

#include "base/error.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum imrec_status put(struct buf *out, const char *text, struct imrec_error *err)
{
    return buf_append(out, text, strlen(text), err);
}

/* Bytes of the well-formed UTF-8 sequence that p[0..n) begins with; 0: there is none. */
static size_t sequence(const uint8_t *p, size_t n)
{
    for (size_t k = 1; k <= 4 && k <= n; k++)
        if (text_is_utf8((struct bytes){p, k}))
            return k;
    return 0;
}

static enum imrec_status put_text(struct buf *out, struct bytes text, struct imrec_error *err)
{
    char escape[8];
    IMREC_TRY(put(out, "\"", err));
    for (size_t i = 0, step; i < text.n; i += step) {
        const uint8_t c = text.p[i];
        const size_t whole = sequence(text.p + i, text.n - i);
        step = whole != 0 ? whole : 1;
        if (whole == 0)
            snprintf(escape, sizeof(escape), "\\udc%02x", c);
        else if (c == '"' || c == '\\')
            snprintf(escape, sizeof(escape), "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            snprintf(escape, sizeof(escape), "\\u%04x", c);
        else {
            IMREC_TRY(buf_append(out, text.p + i, whole, err));
            continue;
        }
        IMREC_TRY(put(out, escape, err));
    }
    return put(out, "\"", err);
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

enum imrec_status
report_write(struct buf *out, const struct report_line *l, struct imrec_error *err)
{
    char number[64];
    IMREC_TRY(put(out, "{\"path\":", err));
    IMREC_TRY(put_text(out, l->path, err));
    if (l->line != 0) {
        snprintf(number, sizeof(number), ",\"line\":%" PRIu64, l->line);
        IMREC_TRY(put(out, number, err));
    }
    if (l->reason == REASON_NONE) {
        snprintf(number, sizeof(number), ",\"result\":\"mended\",\"warnings\":%" PRIu32,
                 l->warnings);
        IMREC_TRY(put(out, number, err));
    } else {
        IMREC_TRY(put(out, ",\"result\":\"skipped\",\"code\":\"", err));
        IMREC_TRY(put(out, reason_word(l->reason), err));
        IMREC_TRY(put(out, "\"", err));
    }
    IMREC_TRY(put(out, ",\"reason\":", err));
    IMREC_TRY(put_text(out, bytes_of(l->why), err));
    return put(out, "}", err);
}
