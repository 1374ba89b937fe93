/* storage/aws/sigv4_request.c - a request as its signature sees it: method, path, query, headers
 * and the sum of its body, sorted and on lines of their own. */
#include "storage/aws/sigv4_request.h"

#include "base/error.h"

#include <string.h>
#include <strings.h>

#define QUERY_MOST 32 /* parameters */

struct pair {
    struct bytes name, value;
};

static struct bytes text(const char *p, size_t n)
{
    return (struct bytes){(const uint8_t *)p, n};
}

static enum imrec_status put(struct buf *b, const char *words, struct imrec_error *err)
{
    return buf_append(b, words, strlen(words), err);
}

/* ---- the URL ----------------------------------------------------------------------------- */

struct url_parts {
    struct bytes host, path, query; /* without the "?" */
};

/* The host as the Host header has it: with its port where that is not the scheme's own. */
static struct bytes host_of(const char *url, const char *authority, size_t n)
{
    const char *at = authority + n, *port = strncasecmp(url, "https:", 6) == 0 ? ":443" : ":80";
    while (at > authority && at[-1] != '@')
        at--;
    n -= (size_t)(at - authority);
    const size_t p = strlen(port);
    return text(at, n > p && memcmp(at + n - p, port, p) == 0 ? n - p : n);
}

static struct url_parts parts_of(const char *url)
{
    const char *authority = strstr(url, "://");
    authority = authority != NULL ? authority + 3 : url;
    const size_t n = strcspn(authority, "/?#");
    const char *path = authority + n;
    const size_t path_n = strcspn(path, "?#");
    const char *query = path + path_n + (path[path_n] == '?' ? 1 : 0);
    return (struct url_parts){host_of(url, authority, n),
                              path_n != 0 ? text(path, path_n) : text("/", 1),
                              text(query, strcspn(query, "#"))};
}

/* ---- pairs in their order ---------------------------------------------------------------- */

static int lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static int compare(struct bytes a, struct bytes b, bool fold)
{
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        const int d = fold ? lower(a.p[i]) - lower(b.p[i]) : a.p[i] - b.p[i];
        if (d != 0)
            return d;
    }
    return (a.n > b.n) - (a.n < b.n);
}

/* By name, equal ones of a query by value, of headers as they were added. */
static void insert(struct pair *pairs, uint32_t n, struct pair p, bool headers)
{
    for (; n > 0; n--) {
        const int d = compare(pairs[n - 1].name, p.name, headers);
        if (d < 0 || (d == 0 && (headers || compare(pairs[n - 1].value, p.value, false) <= 0)))
            break;
        pairs[n] = pairs[n - 1];
    }
    pairs[n] = p;
}

static enum imrec_status append_query(struct bytes query, struct buf *out, struct imrec_error *err)
{
    struct pair pairs[QUERY_MOST];
    uint32_t n = 0;
    while (query.n != 0) {
        const uint8_t *end = memchr(query.p, '&', query.n);
        const size_t all = end != NULL ? (size_t)(end - query.p) : query.n;
        const uint8_t *equal = memchr(query.p, '=', all);
        const size_t name = equal != NULL ? (size_t)(equal - query.p) : all;
        const size_t rest = name < all ? name + 1 : all;
        if (n == QUERY_MOST)
            return imrec_fail(err, IMREC_ERR_LIMIT,
                              "a request to be signed has more than %d parameters", QUERY_MOST);
        if (all != 0)
            insert(pairs, n++, (struct pair){{query.p, name}, {query.p + rest, all - rest}}, false);
        query.p += all + (end != NULL ? 1 : 0);
        query.n -= all + (end != NULL ? 1 : 0);
    }
    for (uint32_t i = 0; i < n; i++) {
        IMREC_TRY(i != 0 ? put(out, "&", err) : IMREC_OK);
        IMREC_TRY(buf_append(out, pairs[i].name.p, pairs[i].name.n, err));
        IMREC_TRY(put(out, "=", err));
        IMREC_TRY(buf_append(out, pairs[i].value.p, pairs[i].value.n, err));
    }
    return put(out, "\n", err);
}

/* ---- headers ----------------------------------------------------------------------------- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct pair pair_of(const char *line)
{
    const size_t n = strcspn(line, ":");
    struct bytes value = text(line + n, strlen(line + n));
    if (value.n != 0) { /* the colon */
        value.p++;
        value.n--;
    }
    while (value.n != 0 && is_blank(value.p[0])) {
        value.p++;
        value.n--;
    }
    while (value.n != 0 && is_blank(value.p[value.n - 1]))
        value.n--;
    return (struct pair){text(line, n), value};
}

static bool is_named(struct bytes name, const char *as)
{
    return compare(name, text(as, strlen(as)), true) == 0;
}

struct bytes sigv4_header(const struct wire_job *job, const char *name)
{
    for (uint32_t i = 0; i < job->headers.count; i++) {
        const struct pair p = pair_of(job->headers.line[i]);
        if (is_named(p.name, name))
            return p.value;
    }
    return (struct bytes){NULL, 0};
}

static enum imrec_status append_name(struct bytes name, struct buf *out, struct imrec_error *err)
{
    for (size_t i = 0; i < name.n; i++) {
        const uint8_t c = (uint8_t)lower(name.p[i]);
        IMREC_TRY(buf_append(out, &c, 1, err));
    }
    return IMREC_OK;
}

/* One blank for several. */
static enum imrec_status append_value(struct bytes value, struct buf *out, struct imrec_error *err)
{
    for (size_t i = 0; i < value.n; i++)
        if (!is_blank(value.p[i]) || !is_blank(value.p[i - 1])) /* it begins with none */
            IMREC_TRY(
                buf_append(out, is_blank(value.p[i]) ? (const void *)" " : &value.p[i], 1, err));
    return IMREC_OK;
}

static enum imrec_status append_headers(const struct wire_job *job, struct bytes host,
                                        struct buf *out, struct buf *names, struct imrec_error *err)
{
    struct pair pairs[WIRE_HEADERS + 1];
    uint32_t n = 0;
    if (sigv4_header(job, "host").p == NULL)
        pairs[n++] = (struct pair){text("host", 4), host};
    for (uint32_t i = 0; i < job->headers.count; i++) {
        const struct pair p = pair_of(job->headers.line[i]);
        if (!is_named(p.name, "accept-encoding") && !is_named(p.name, "authorization"))
            insert(pairs, n++, p, true);
    }
    for (uint32_t i = 0; i < n; i++) {
        const bool again = i != 0 && compare(pairs[i - 1].name, pairs[i].name, true) == 0;
        if (!again) {
            IMREC_TRY(put(out, i != 0 ? "\n" : "", err));
            IMREC_TRY(put(names, i != 0 ? ";" : "", err));
            IMREC_TRY(append_name(pairs[i].name, names, err));
            IMREC_TRY(append_name(pairs[i].name, out, err));
        }
        IMREC_TRY(put(out, again ? "," : ":", err));
        IMREC_TRY(append_value(pairs[i].value, out, err));
    }
    return put(out, "\n\n", err);
}

/* ---- all of it --------------------------------------------------------------------------- */

enum imrec_status sigv4_request(const struct wire_job *job, struct bytes sum, struct buf *out,
                                struct buf *names, struct imrec_error *err)
{
    const struct url_parts url = parts_of(job->url);
    IMREC_TRY(put(out, job->method, err));
    IMREC_TRY(put(out, "\n", err));
    IMREC_TRY(buf_append(out, url.path.p, url.path.n, err));
    IMREC_TRY(put(out, "\n", err));
    IMREC_TRY(append_query(url.query, out, err));
    IMREC_TRY(append_headers(job, url.host, out, names, err));
    IMREC_TRY(buf_append(out, names->p, names->n, err));
    IMREC_TRY(put(out, "\n", err));
    return buf_append(out, sum.p, sum.n, err);
}
