/* storage/uri_range.c */
#include "storage/uri_range.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES  4096
#define RANGES_MOST 8
#define DIGITS_MOST 18

struct range {
    const char *begin, *end; /* in the text, braces included */
    uint64_t from, to;
    int width; /* of all its numbers, with zeros before them; 0: that of each */
};

struct ranges {
    struct range of[RANGES_MOST];
    uint32_t count;
    uint64_t names;
};

static uint64_t length_of(const struct range *r)
{
    return (r->from < r->to ? r->to - r->from : r->from - r->to) + 1;
}

/* The number at *p, which then is after it. */
static bool take_number(const char **p, uint64_t *out, size_t *digits, bool *padded)
{
    const char *begin = *p;
    *out = 0;
    for (; **p >= '0' && **p <= '9'; ++*p)
        if (*p - begin < DIGITS_MOST)
            *out = *out * 10 + (uint64_t)(**p - '0');
    *digits = (size_t)(*p - begin);
    *padded |= *begin == '0' && *digits > 1;
    return *digits != 0 && *digits <= DIGITS_MOST;
}

/* {A..B} at `text`. */
static bool parse(const char *text, struct range *out)
{
    const char *p = text + 1;
    size_t first, second;
    bool padded = false;
    if (!take_number(&p, &out->from, &first, &padded) || p[0] != '.' || p[1] != '.')
        return false;
    p += 2;
    if (!take_number(&p, &out->to, &second, &padded) || *p != '}')
        return false;
    out->begin = text;
    out->end = p + 1;
    out->width = !padded ? 0 : (int)(first > second ? first : second);
    return true;
}

static bool find(const char *text, struct range *out)
{
    for (const char *p = text; (p = strchr(p, '{')) != NULL; p++)
        if (parse(p, out))
            return true;
    return false;
}

const char *uri_range_in(const char *text)
{
    struct range r;
    return find(text, &r) ? r.begin : NULL;
}

static enum imrec_status find_all(const char *text, struct ranges *all, struct imrec_error *err)
{
    struct range r;
    all->count = 0;
    all->names = 1;
    for (const char *p = text; find(p, &r); p = r.end) {
        if (all->count == RANGES_MOST)
            return imrec_fail(err, IMREC_ERR_LIMIT, "%.200s has more than %d ranges", text,
                              RANGES_MOST);
        if (length_of(&r) > URI_RANGE_MOST / all->names)
            return imrec_fail(err, IMREC_ERR_LIMIT, "%.200s is more than %" PRIu64 " names", text,
                              URI_RANGE_MOST);
        all->names *= length_of(&r);
        all->of[all->count++] = r;
    }
    return IMREC_OK;
}

/* Name i of all, i < all->names. */
static bool write_name(const char *text, const struct ranges *all, uint64_t i, char out[NAME_BYTES])
{
    uint64_t step = all->names;
    size_t n = 0;
    for (uint32_t k = 0; k < all->count && n < NAME_BYTES; k++) {
        const struct range *r = &all->of[k];
        step /= length_of(r);
        const uint64_t j = i / step % length_of(r),
                       value = r->from < r->to ? r->from + j : r->from - j;
        n += (size_t)snprintf(out + n, NAME_BYTES - n, "%.*s%0*" PRIu64, (int)(r->begin - text),
                              text, r->width, value);
        text = r->end;
    }
    if (n < NAME_BYTES)
        n += (size_t)snprintf(out + n, NAME_BYTES - n, "%s", text);
    return n < NAME_BYTES;
}

enum imrec_status
uri_range_names(const char *text,
                enum imrec_status (*found)(void *user, const char *name, struct imrec_error *err),
                void *user, struct imrec_error *err)
{
    char name[NAME_BYTES];
    struct ranges all;
    IMREC_TRY(find_all(text, &all, err));
    for (uint64_t i = 0; i < all.names; i++) {
        if (!write_name(text, &all, i, name))
            return imrec_fail(err, IMREC_ERR_LIMIT, "%.200s...: a name is longer than %d bytes",
                              text, NAME_BYTES - 1);
        IMREC_TRY(found(user, name, err));
    }
    return IMREC_OK;
}
