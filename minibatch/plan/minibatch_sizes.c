/* minibatch/plan/minibatch_sizes.c - "128*2+1024": how large minibatches are in which epoch. */
#include "minibatch/plan/minibatch_sizes.h"

#include "base/error.h"

struct reader {
    const char *text, *p;
    struct minibatch_sizes *out;
    struct imrec_error *err;
};

static enum imrec_status expected(const struct reader *r, const char *what)
{
    return IMREC_REFUSE(r->err,
                        "minibatch_size_in_samples '%.80s': %s expected at character %zu; right "
                        "would be 256, 128*2+1024 or 128*2:1024",
                        r->text, what, (size_t)(r->p - r->text) + 1);
}

static void skip_blanks(struct reader *r)
{
    while (*r->p == ' ' || *r->p == '\t')
        r->p++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (*r->p != c)
        return false;
    r->p++;
    return true;
}

static enum imrec_status number(struct reader *r, uint64_t *out)
{
    skip_blanks(r);
    uint64_t v = 0;
    const char *begin = r->p;
    for (; *r->p >= '0' && *r->p <= '9'; r->p++) {
        v = 10 * v + (uint64_t)(*r->p - '0');
        if (v > MINIBATCH_SIZE_MAX)
            return expected(r, "a number of at most 2147483647");
    }
    if (r->p == begin || v == 0)
        return expected(r, "a number above 0");
    *out = v;
    return IMREC_OK;
}

static enum imrec_status add(struct reader *r, uint64_t epochs, uint64_t size)
{
    if (r->out->entries == MINIBATCH_SIZES_MAX)
        return expected(r, "an end: there are 256 sizes; nothing more");
    r->out->entry[r->out->entries].epochs = epochs;
    r->out->entry[r->out->entries++].size = size;
    return IMREC_OK;
}

static enum imrec_status repeat(struct reader *r, uint64_t *times)
{
    *times = 1;
    return take(r, '*') ? number(r, times) : IMREC_OK;
}

static enum imrec_status pair(struct reader *r)
{
    uint64_t epochs, size;
    IMREC_TRY(number(r, &epochs));
    if (!take(r, ','))
        return expected(r, "',' between epochs and size");
    IMREC_TRY(number(r, &size));
    if (!take(r, ')'))
        return expected(r, "')'");
    return add(r, epochs, size);
}

static enum imrec_status entries(struct reader *r, bool inner);

/* [a, b] * n: only a list of one size can be repeated without writing it out. */
static enum imrec_status list(struct reader *r)
{
    const uint32_t first = r->out->entries;
    uint64_t times;
    IMREC_TRY(entries(r, true));
    if (!take(r, ']'))
        return expected(r, "']'");
    const uint32_t n = r->out->entries - first;
    IMREC_TRY(repeat(r, &times));
    if (n == 1) {
        r->out->entry[first].epochs *= times;
        return IMREC_OK;
    }
    for (uint64_t t = 1; t < times; t++)
        for (uint32_t i = 0; i < n; i++)
            IMREC_TRY(add(r, r->out->entry[first + i].epochs, r->out->entry[first + i].size));
    return IMREC_OK;
}

static enum imrec_status entry(struct reader *r, bool inner)
{
    uint64_t size, times;
    if (take(r, '('))
        return pair(r);
    if (!inner && take(r, '['))
        return list(r);
    IMREC_TRY(number(r, &size));
    IMREC_TRY(repeat(r, &times));
    return add(r, times, size);
}

static enum imrec_status entries(struct reader *r, bool inner)
{
    do
        IMREC_TRY(entry(r, inner));
    while (take(r, '+') || take(r, ':') || take(r, ','));
    return IMREC_OK;
}

enum imrec_status
minibatch_sizes_parse(const char *text, struct minibatch_sizes *out, struct imrec_error *err)
{
    struct reader r = {text, text, out, err};
    out->entries = 0;
    IMREC_TRY(entries(&r, false));
    skip_blanks(&r);
    return *r.p == '\0' ? IMREC_OK : expected(&r, "'+', ':' or the end");
}

uint64_t minibatch_size(const struct minibatch_sizes *s, uint64_t epoch)
{
    uint32_t i = 0;
    while (i + 1 < s->entries && epoch >= s->entry[i].epochs)
        epoch -= s->entry[i++].epochs;
    return s->entry[i].size;
}
