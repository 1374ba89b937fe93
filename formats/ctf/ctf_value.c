/* formats/ctf/ctf_value.c - the values of a sample, and what is said where they are wrong. */
#include "base/alloc.h"
#include "base/shown.h"
#include "formats/ctf/ctf_number.h"
#include "formats/ctf/ctf_parser.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- problems ---------------------------------------------------------------------------- */

/* The number of the line in the file: those before the sequence's line in the chunk's text. */
static uint64_t line_number(const struct ctf_parser *p)
{
    uint64_t n = p->chunk->line;
    for (const uint8_t *at = p->text; at < p->line_begin; n++) {
        at = memchr(at, '\n', (size_t)(p->line_begin - at));
        if (at == NULL)
            break;
        at++;
    }
    return n;
}

bool ctf_complain(struct ctf_parser *p, const uint8_t *at, const char *fmt, ...)
{
    if (p->problems == p->problem_room) {
        const uint64_t room = p->problem_room < 8 ? 8 : 2 * p->problem_room;
        struct ctf_problem *grown = imrec_realloc(p->problem, room, sizeof(*grown));
        if (grown == NULL) {
            p->no_memory = p->stop = true;
            return false;
        }
        p->problem = grown;
        p->problem_room = room;
    }
    struct ctf_problem *q = &p->problem[p->problems++];
    q->offset = p->chunk->offset + (uint64_t)(at - p->text);
    char said[sizeof(q->message)];
    const int n = snprintf(said, sizeof(said), "%.120s: line %" PRIu64 ", column %" PRIu64 ": ",
                           p->o.name, line_number(p), (uint64_t)(at - p->line_begin) + 1);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(said + n, sizeof(said) - (size_t)n, fmt, ap);
    va_end(ap);
    shown_copy(q->message, sizeof(q->message), said);
    p->stop |= p->problems > p->o.max_problems;
    return false;
}

/* What stands at `at`, for a message. */
struct text_quote ctf_word_at(const struct ctf_parser *p, const uint8_t *at)
{
    const uint8_t *end = at;
    while (end < p->line_end && *end != ' ' && *end != '\t' && *end != '|')
        end++;
    end += end == at && at < p->line_end;
    if (at >= p->line_end)
        return (struct text_quote){"the line's end"};
    return text_quote((struct bytes){at, (size_t)(end - at)});
}

/* ---- values ------------------------------------------------------------------------------ */

static inline bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Whether a value may end here: at a blank, a pipe or the line's end. */
static inline bool ends_value(const struct ctf_parser *p, const uint8_t *at)
{
    return is_blank(*at) || *at == '|' || at >= p->line_end;
}

static bool no_number(struct ctf_parser *p, const struct stream *s, const uint8_t *at)
{
    return ctf_complain(p, at,
                        "input '%.40s': %s is no number; numbers like -1.5e3, separated by "
                        "blanks, are right",
                        s->info->alias, ctf_word_at(p, at).s);
}

static bool too_large(struct ctf_parser *p, const struct stream *s, const uint8_t *at)
{
    return ctf_complain(p, at, "input '%.40s': %s is too large for a %s", s->info->alias,
                        ctf_word_at(p, at).s, s->element == 4 ? "float" : "double");
}

/* One number at *at, behind which it moves, to `to`. */
static inline bool
read_number(struct ctf_parser *p, const struct stream *s, const uint8_t **at, uint8_t *to)
{
    struct ctf_number n;
    const uint8_t *end = ctf_number_scan(*at, &n);
    if (end == NULL || !ends_value(p, end))
        return no_number(p, s, *at);
    if (s->element == 4) {
        float v;
        if (ctf_number_float(&n, *at, end, &v) != CTF_ROUNDED)
            return too_large(p, s, *at);
        memcpy(to, &v, sizeof(v));
    } else {
        double v;
        if (ctf_number_double(&n, *at, end, &v) != CTF_ROUNDED)
            return too_large(p, s, *at);
        memcpy(to, &v, sizeof(v));
    }
    *at = end;
    return true;
}

static bool at_sample_end(const struct ctf_parser *p, const uint8_t *at)
{
    return at >= p->line_end || *at == '|';
}

/* Before here enough bytes are readable for the fast way. */
static inline const uint8_t *end_of_fast(const struct ctf_parser *p)
{
    const uint64_t n = p->chunk->bytes;
    return p->text + (n > CTF_SAFE_BYTES ? n - CTF_SAFE_BYTES : 0);
}

bool ctf_read_dense(struct ctf_parser *p, struct stream *s, const uint8_t **at)
{
    const uint32_t dim = s->info->dim;
    const size_t element = s->element;
    if (!ctf_reserve(p, &s->out, (size_t)dim * element))
        return false;
    uint8_t *const to = s->out.p + s->out.n;
    const uint8_t *const safe = end_of_fast(p);
    for (uint32_t i = 0;; i++) {
        *at = ctf_skip_blanks(*at);
        i += p->values->dense[s->info->element](at, safe, to + i * element, dim - i);
        if (i == dim)
            break;
        if (at_sample_end(p, *at))
            return ctf_complain(p, *at,
                                "input '%.40s': the sample has %" PRIu32 " values; dim is %" PRIu32,
                                s->info->alias, i, dim);
        if (!read_number(p, s, at, to + i * element))
            return false;
    }
    *at = ctf_skip_blanks(*at);
    if (!at_sample_end(p, *at))
        return ctf_complain(p, *at, "input '%.40s': %s is behind the last value; dim is %" PRIu32,
                            s->info->alias, ctf_word_at(p, *at).s, dim);
    s->out.n += (size_t)dim * element;
    return true;
}

/* "index:" at *at. */
static inline bool
read_index(struct ctf_parser *p, const struct stream *s, const uint8_t **at, uint32_t *out)
{
    const uint8_t *c = *at;
    uint64_t v = 0;
    for (; (uint8_t)(*c - '0') < 10; c++)
        v = v <= UINT32_MAX ? 10 * v + (uint64_t)(*c - '0') : v;
    if (c == *at || *c != ':')
        return ctf_complain(p, *at, "input '%.40s': %s is not of the form index:value",
                            s->info->alias, ctf_word_at(p, *at).s);
    if (v >= s->info->dim)
        return ctf_complain(p, *at, "input '%.40s': index %.20s is not below dim, %" PRIu32,
                            s->info->alias, ctf_word_at(p, *at).s, s->info->dim);
    *out = (uint32_t)v;
    *at = c + 1;
    return true;
}

/* The pairs of a sample; false: no memory, or a bad one at *at. */
static bool read_pairs(struct ctf_parser *p, struct stream *s, const uint8_t **at, uint32_t *n)
{
    const uint8_t *const safe = end_of_fast(p);
    /* a pair has three characters and a blank; the last may lack it */
    const size_t most = (size_t)(p->line_end - *at) / 4 + 1;
    uint32_t index = 0;
    if (!ctf_reserve(p, &s->out, most * s->element) || !ctf_reserve(p, &s->index, most * 4))
        return false;
    for (*at = ctf_skip_blanks(*at); !at_sample_end(p, *at); *at = ctf_skip_blanks(*at)) {
        const uint32_t plain = p->values->sparse[s->info->element](
            at, safe, s->out.p + s->out.n, s->index.p + s->index.n, s->info->dim);
        *n += plain;
        s->out.n += plain * s->element;
        s->index.n += (size_t)plain * 4;
        if (at_sample_end(p, *at))
            break;
        if (!read_index(p, s, at, &index) || !read_number(p, s, at, s->out.p + s->out.n))
            return false;
        s->out.n += s->element;
        ctf_put32(&s->index, index);
        ++*n;
    }
    return true;
}

bool ctf_read_sparse(struct ctf_parser *p, struct stream *s, const uint8_t **at)
{
    const size_t values = s->out.n, indices = s->index.n;
    uint32_t n = 0;
    bool good = read_pairs(p, s, at, &n);
    if (good && s->nnz + (uint64_t)n > INT32_MAX)
        good = ctf_complain(p, *at, "input '%.40s': more than 2147483647 values in a sequence",
                            s->info->alias);
    if (!good || !ctf_reserve(p, &s->count, 4)) {
        s->out.n = values;
        s->index.n = indices;
        return false;
    }
    ctf_put32(&s->count, n);
    s->nnz += n;
    return true;
}
