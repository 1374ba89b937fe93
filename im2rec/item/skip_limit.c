/* im2rec/item/skip_limit.c */
#include "im2rec/item/skip_limit.h"

#include "base/error.h"
#include "formats/text.h"

#include <string.h>

#define DIGITS     6 /* after the point */
#define PER_CENT   ((uint64_t)1000000)
#define EVERYTHING (100 * PER_CENT)

/* "12.25" in millionths, exactly. */
static bool read_share(struct bytes b, uint64_t *out)
{
    uint64_t whole, part = 0;
    const uint8_t *point = memchr(b.p, '.', b.n);
    const size_t n = point != NULL ? (size_t)(point - b.p) : b.n;
    size_t digits = point != NULL ? b.n - n - 1 : 0;
    if (!text_to_u64((struct bytes){b.p, n}, &whole) || whole > 100 || digits > DIGITS ||
        (point != NULL && !text_to_u64((struct bytes){point + 1, digits}, &part)))
        return false;
    for (; digits < DIGITS; digits++)
        part *= 10;
    *out = whole * PER_CENT + part;
    return *out <= EVERYTHING;
}

enum imrec_status
skip_limit_parse(const char *text, struct skip_limit *out, struct imrec_error *err)
{
    const struct bytes b = {(const uint8_t *)text, strlen(text)};
    *out = (struct skip_limit){.set = b.n != 0, .millionth = UINT64_MAX};
    if (b.n == 0 || text_to_u64(b, &out->images))
        return IMREC_OK;
    if (b.p[b.n - 1] == '%' && read_share((struct bytes){b.p, b.n - 1}, &out->millionth))
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "max_skipped must be a number of images, as 10, or a share of them, as "
                        "0.5%%, not %s",
                        text_quote(b).s);
}

uint64_t skip_limit_of(const struct skip_limit *l, uint64_t total)
{
    if (!l->set)
        return UINT64_MAX;
    if (l->millionth == UINT64_MAX)
        return l->images;
    return total / EVERYTHING * l->millionth + total % EVERYTHING * l->millionth / EVERYTHING;
}

uint64_t skip_limit_of_some(const struct skip_limit *l)
{
    return l->set && l->millionth == UINT64_MAX ? l->images : UINT64_MAX;
}
