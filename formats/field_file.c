/* formats/field_file.c */
#include "formats/field_file.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static enum imrec_status put_escaped(struct buf *to, uint8_t c, struct imrec_error *err)
{
    char text[4];
    (void)snprintf(text, sizeof(text), "%%%02X", c);
    return buf_append(to, text, 3, err);
}

static enum imrec_status
put_all(struct buf *to, struct bytes name, bool slash, struct imrec_error *err)
{
    for (size_t i = 0; i < name.n; i++) {
        const uint8_t c = name.p[i];
        const bool plain = c > ' ' && c != '%' && c != 0x7f && (slash || c != '/');
        IMREC_TRY(plain ? buf_append(to, &c, 1, err) : put_escaped(to, c, err));
    }
    return IMREC_OK;
}

enum imrec_status word_write(struct buf *to, struct bytes name, struct imrec_error *err)
{
    return put_all(to, name, true, err);
}

/* -1: no digit. */
static int digit_of(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

enum imrec_status
word_read(struct buf *to, struct bytes word, bool *is_one, struct imrec_error *err)
{
    *is_one = false;
    for (size_t i = 0; i < word.n; i++) {
        uint8_t c = word.p[i];
        if (c == '%') {
            const int high = i + 1 < word.n ? digit_of(word.p[i + 1]) : -1,
                      low = i + 2 < word.n ? digit_of(word.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return IMREC_OK;
            c = (uint8_t)(16 * high + low);
            i += 2;
        }
        IMREC_TRY(buf_append(to, &c, 1, err));
    }
    *is_one = true;
    return IMREC_OK;
}

enum imrec_status field_extension(struct buf *to, struct bytes name, bool is_taken, uint64_t repeat,
                                  struct imrec_error *err)
{
    char number[24];
    to->n = 0;
    if (is_taken && name.n != 0) {
        IMREC_TRY(put_escaped(to, name.p[0], err));
        name = (struct bytes){name.p + 1, name.n - 1};
    }
    IMREC_TRY(put_all(to, name, false, err));
    const int n = snprintf(number, sizeof(number), "%%.%" PRIu64, repeat);
    return repeat != 0 ? buf_append(to, number, (size_t)n, err) : IMREC_OK;
}

/* NaN without its sign and its other bits: readers of text have one. */
static enum imrec_status add_number(struct buf *to, enum field_type type, const uint8_t *p,
                                    size_t i, struct imrec_error *err)
{
    const char *before = i != 0 ? " " : "";
    char text[32];
    const bool whole = type == FIELD_INT64;
    const float value = whole ? 0 : load_le_float(p + i * sizeof(float));
    const int n = whole          ? snprintf(text, sizeof(text), "%s%" PRId64, before,
                                            (int64_t)load_le64(p + i * sizeof(int64_t)))
                  : isnan(value) ? snprintf(text, sizeof(text), "%snan", before)
                                 : snprintf(text, sizeof(text), "%s%.9g", before, (double)value);
    return buf_append(to, text, (size_t)n, err);
}

enum imrec_status field_content(struct buf *text, enum field_type type, struct bytes value,
                                struct bytes *out, struct imrec_error *err)
{
    const size_t each = type == FIELD_INT64 ? sizeof(int64_t) : sizeof(float);
    *out = value;
    if (type == FIELD_BYTES)
        return IMREC_OK;
    text->n = 0;
    for (size_t i = 0; i < value.n / each; i++)
        IMREC_TRY(add_number(text, type, value.p, i, err));
    *out = (struct bytes){text->p, text->n};
    return IMREC_OK;
}

uint64_t field_repeats(const struct imrec_field *fields, uint32_t i)
{
    const struct imrec_field *f = &fields[i];
    uint64_t n = 0;
    for (uint32_t k = 0; k < i; k++)
        n += fields[k].name_bytes == f->name_bytes &&
             memcmp(fields[k].name, f->name, f->name_bytes) == 0;
    return n;
}
