/* im2rec/skip_report.c */
#include "im2rec/skip_report.h"

#include "base/error.h"
#include "base/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum imrec_status put(struct buf *out, const char *text, struct imrec_error *err)
{
    return buf_append(out, text, strlen(text), err);
}

static enum imrec_status put_text(struct buf *out, struct bytes text, struct imrec_error *err)
{
    char shown[SHOWN_BYTES], escape[8];
    IMREC_TRY(put(out, "\"", err));
    for (size_t i = 0; i < text.n;) {
        const uint8_t c = text.p[i];
        i += shown_next((const char *)text.p + i, text.n - i, shown);
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof(escape), "\\%c", c);
        else if (shown[0] == '\\' && shown[1] == 'x') /* a byte: a control, or no UTF-8 */
            snprintf(escape, sizeof(escape), "\\u%s%02x", c < 0x80 ? "00" : "dc", c);
        else
            memcpy(escape, shown, sizeof(shown));
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
