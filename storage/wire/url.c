/* storage/wire/url.c - text that goes into URLs, and URLs as messages may show them. */
#include "storage/wire/url.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

static const char hex[] = "0123456789ABCDEF";

static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

enum imrec_status
url_append_encoded(struct buf *b, const char *text, size_t n, bool slash, struct imrec_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const char as[3] = {'%', hex[c >> 4], hex[c & 15]};
        const bool stays = is_unreserved(c) || (slash && c == '/');
        IMREC_TRY(buf_append(b, stays ? &text[i] : as, stays ? 1 : 3, err));
    }
    return IMREC_OK;
}

char *url_of_user(const char *scheme, const char *rest)
{
    const size_t head = strlen(scheme), n = strlen(rest);
    char *url = n < SIZE_MAX / 4 - head ? imrec_realloc(NULL, head + 3 * n + 1, 1) : NULL;
    if (url == NULL)
        return NULL;
    memcpy(url, scheme, head);
    char *to = url + head;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)rest[i];
        if (c > ' ' && c < 0x7f) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '%';
        *to++ = hex[c >> 4];
        *to++ = hex[c & 15];
    }
    *to = '\0';
    return url;
}

char *url_shown(const char *url)
{
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    const size_t authority = strcspn(host, "/?#");
    const char *at = host + authority; /* after the last '@' of the authority, or its begin */
    while (at > host && at[-1] != '@')
        at--;
    const size_t head = (size_t)(host - url), n = strcspn(at, "?#");
    char *shown = imrec_realloc(NULL, head + n + 1, 1);
    if (shown == NULL)
        return NULL;
    memcpy(shown, url, head);
    memcpy(shown + head, at, n);
    shown[head + n] = '\0';
    return shown;
}
