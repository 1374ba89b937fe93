/* storage/wire/repeats.c - whether a server's words repeat what proves who asks.
 *
 * Pieces are compared, because a text may be cut: 20 bytes of a secret, or all of a shorter one. */
#include "storage/wire/repeats.h"

#include <string.h>
#include <strings.h>

enum { PIECE = 20, LONG_VALUE = 16, SHORTEST = 4 };

static bool has(const char *text, size_t n, const char *piece, size_t bytes)
{
    for (size_t i = 0; i + bytes <= n; i++)
        if (memcmp(text + i, piece, bytes) == 0)
            return true;
    return false;
}

static bool repeats(const char *text, const char *secret, size_t bytes)
{
    const size_t n = strlen(text), piece = bytes < PIECE ? bytes : PIECE;
    if (bytes < SHORTEST)
        return false;
    for (size_t i = 0; i + piece <= bytes; i++)
        if (has(text, n, secret + i, piece))
            return true;
    return false;
}

/* Names of parameters that hold a secret. Others do if they are long: a user's URL may be signed
 * in any way. */
static bool is_secret(const char *name, size_t n, size_t value)
{
    static const char *const words[] = {"sig",      "token", "secret",     "key", "credential",
                                        "password", "auth",  "delegation", "code"};
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
        for (size_t i = 0; i + strlen(words[w]) <= n; i++)
            if (strncasecmp(name + i, words[w], strlen(words[w])) == 0)
                return true;
    return value >= LONG_VALUE;
}

static bool repeats_query(const char *query, const char *text)
{
    while (*query != '\0') {
        const size_t n = strcspn(query, "&"), name = strcspn(query, "=&");
        const size_t value = name < n ? name + 1 : 0; /* "?SECRET" has no name */
        if (is_secret(query, name, n - value) && repeats(text, query + value, n - value))
            return true;
        query += n + (query[n] != '\0');
    }
    return false;
}

/* "name:password@host" */
static bool repeats_user(const char *url, const char *text)
{
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    size_t n = strcspn(host, "/?#");
    while (n > 0 && host[n - 1] != '@')
        n--;
    if (n == 0)
        return false;
    const size_t name = strcspn(host, ":@");
    return repeats(text, host, name) ||
           (name + 1 < n && repeats(text, host + name + 1, n - name - 2));
}

bool wire_repeats_secret(const struct wire_job *job, const char *text)
{
    for (uint32_t i = 0; i < job->headers.count; i++) {
        const char *value = strchr(job->headers.line[i], ':');
        if (value != NULL && repeats(text, value + 2, strlen(value) < 2 ? 0 : strlen(value) - 2))
            return true;
    }
    const char *query = job->url != NULL ? strchr(job->url, '?') : NULL;
    if (query != NULL && repeats_query(query + 1, text))
        return true;
    return (job->url != NULL && repeats_user(job->url, text)) ||
           strstr(text, "Basic ") != NULL; /* libcurl makes it of the URL's name and password */
}
