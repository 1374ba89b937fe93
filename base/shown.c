/* base/shown.c - text out of files as it may be shown. */
#include "base/shown.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t utf8_sequence(const uint8_t *p, size_t n)
{
    const uint8_t a = p[0];
    const size_t want = a < 0x80 ? 1 : a >= 0xc2 && a < 0xe0 ? 2 : a >= 0xe0 && a < 0xf0 ? 3 : 4;
    if (a < 0x80)
        return 1;
    if (a < 0xc2 || a > 0xf4 || n < want)
        return 0;
    for (size_t i = 1; i < want; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((a == 0xe0 && p[1] < 0xa0) || (a == 0xed && p[1] > 0x9f) || (a == 0xf0 && p[1] < 0x90) ||
        (a == 0xf4 && p[1] > 0x8f))
        return 0;
    return want;
}

/* The code point of a sequence of 2 or 3 bytes; 0 of others, none of which is hidden. */
static uint32_t code_point(const uint8_t *p, size_t bytes)
{
    if (bytes == 2)
        return (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    if (bytes == 3)
        return (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    return 0;
}

/* Controls of C1, marks and controls of direction (Unicode, Bidi_Control), ends of lines. */
static bool is_hidden(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t shown_next(const char *text, size_t n, char out[SHOWN_BYTES])
{
    const uint8_t *p = (const uint8_t *)text;
    const size_t bytes = utf8_sequence(p, n);
    const uint32_t code = code_point(p, bytes);
    if (bytes == 0 || *p < 0x20 || *p == 0x7f) {
        (void)snprintf(out, SHOWN_BYTES, "\\x%02x", *p);
        return 1;
    }
    if (is_hidden(code)) {
        (void)snprintf(out, SHOWN_BYTES, "\\u%04x", (unsigned)(code & 0xffff));
        return bytes;
    }
    memcpy(out, text, bytes);
    out[bytes] = '\0';
    return bytes;
}

bool shown_as_is(const char *text)
{
    char out[SHOWN_BYTES];
    for (size_t n = strlen(text), took; n > 0; text += took, n -= took) {
        took = shown_next(text, n, out);
        if (out[0] == '\\' && (took != 1 || *text != '\\'))
            return false;
    }
    return true;
}

void shown_copy(char *to, size_t room, const char *text)
{
    char out[SHOWN_BYTES];
    size_t at = 0;
    for (size_t n = strlen(text), took; n > 0; text += took, n -= took) {
        took = shown_next(text, n, out);
        const size_t bytes = strlen(out);
        if (at + bytes >= room)
            break;
        memcpy(to + at, out, bytes);
        at += bytes;
    }
    to[at] = '\0';
}

/* Takes out text[from..to). */
static void cut(char *text, size_t from, size_t to)
{
    memmove(text + from, text + to, strlen(text + to) + 1);
}

static const char *last_of(const char *text, size_t n, char c)
{
    while (n > 0 && text[n - 1] != c)
        n--;
    return n > 0 ? text + n - 1 : NULL;
}

/* A quotation mark that ends a URL in a sentence; one in a password or a signature does not. */
static bool ends_here(const char *p)
{
    return *p == ' ' || ((*p == '\'' || *p == '"') && strchr(" ,.:;)", p[1]) != NULL);
}

static size_t url_end(const char *url)
{
    size_t n = 0;
    while (url[n] != '\0' && !ends_here(url + n))
        n++;
    while (n > 0 && strchr(":;,.)", url[n - 1]) != NULL) /* of the sentence */
        n--;
    return n;
}

/* "name:pass" that no '@' follows: a password with a '/' in it, or a text that was cut there. */
static bool is_cut_user(const char *url, size_t authority)
{
    const char *colon = url[0] != '[' ? memchr(url, ':', authority) : NULL;
    const size_t port = colon != NULL ? strspn(colon + 1, "0123456789") : 0;
    return colon != NULL && colon + 1 + port < url + authority && !ends_here(colon + 1 + port);
}

/* Name and password before the host; of other stores a name alone stays, it is no secret. */
static void hide_user(char *url, bool web)
{
    const size_t end = url_end(url), n = strcspn(url, " /?#"), authority = n < end ? n : end;
    const char *at = last_of(url, authority, '@');
    if (at != NULL && (web || memchr(url, ':', (size_t)(at - url)) != NULL))
        cut(url, 0, (size_t)(at - url) + 1);
    else if (at == NULL && web && is_cut_user(url, authority))
        cut(url, 0, end);
}

static void hide_query(char *url)
{
    const size_t end = url_end(url), open = strcspn(url, "?#");
    if (open < end)
        cut(url, open, end);
}

void shown_hide_secrets(char *text)
{
    for (char *p = text; (p = strstr(p, "://")) != NULL;) {
        const bool web = (p - text >= 4 && strncasecmp(p - 4, "http", 4) == 0) ||
                         (p - text >= 5 && strncasecmp(p - 5, "https", 5) == 0);
        p += 3;
        hide_user(p, web);
        if (web)
            hide_query(p);
    }
}
