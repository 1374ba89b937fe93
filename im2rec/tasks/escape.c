/* im2rec/tasks/escape.c */
#include "im2rec/tasks/escape.h"

#include "base/error.h"

#include <string.h>

static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c != 0x7f && c != '%';
}

enum imrec_status escape(struct buf *out, struct bytes text, struct imrec_error *err)
{
    static const char digits[] = "0123456789abcdef";
    size_t done = 0;
    for (size_t i = 0; i < text.n; i++) {
        const uint8_t c = text.p[i];
        if (is_plain(c))
            continue;
        const char coded[3] = {'%', digits[c >> 4], digits[c & 15]};
        IMREC_TRY(buf_append(out, text.p + done, i - done, err));
        IMREC_TRY(buf_append(out, coded, sizeof(coded), err));
        done = i + 1;
    }
    return text.n != done ? buf_append(out, text.p + done, text.n - done, err) : IMREC_OK;
}

static int digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum imrec_status unescape(struct buf *out, struct bytes text, struct imrec_error *err)
{
    size_t done = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '%')
            continue;
        const int high = text.n - i > 2 ? digit(text.p[i + 1]) : -1;
        const int low = text.n - i > 2 ? digit(text.p[i + 2]) : -1;
        if (high < 0 || low < 0)
            return imrec_fail(err, IMREC_ERR_CORRUPT, "a %% is not followed by two digits");
        const uint8_t c = (uint8_t)(high << 4 | low);
        IMREC_TRY(buf_append(out, text.p + done, i - done, err));
        IMREC_TRY(buf_append(out, &c, 1, err));
        i += 2;
        done = i + 1;
    }
    return text.n != done ? buf_append(out, text.p + done, text.n - done, err) : IMREC_OK;
}

struct bytes next_field(struct bytes *rest)
{
    const uint8_t *p = rest->n != 0 ? rest->p : (const uint8_t *)"";
    const uint8_t *tab = memchr(p, '\t', rest->n);
    const size_t n = tab != NULL ? (size_t)(tab - p) : rest->n;
    const size_t cut = n + (tab != NULL);
    *rest = (struct bytes){p + cut, rest->n - cut};
    return (struct bytes){p, n};
}
