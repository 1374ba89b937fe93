/* tests/support/http_proxy/conditions.c - RFC 9110, what of it clients of stores use. */
#include "tests/support/http_proxy/conditions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool number(const char **at, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return true;
}

enum range range_read(const char *text, uint64_t size, uint64_t *first, uint64_t *count)
{
    uint64_t last = UINT64_MAX;
    if (text == NULL || strncmp(text, "bytes=", 6) != 0)
        return RANGE_NONE;
    text += 6;
    if (*text == '-') { /* the last n */
        text++;
        if (!number(&text, &last) || *text != '\0')
            return RANGE_NONE;
        *count = last < size ? last : size;
        *first = size - *count;
        return *count == 0 ? RANGE_BAD : RANGE_GOOD;
    }
    if (!number(&text, first) || *text++ != '-')
        return RANGE_NONE;
    if ((*text != '\0' && !number(&text, &last)) || *text != '\0' || last < *first)
        return RANGE_NONE;
    if (*first >= size)
        return RANGE_BAD;
    *count = (last < size - 1 ? last : size - 1) - *first + 1;
    return RANGE_GOOD;
}

int conditions_check(const struct head *request, const char *tag)
{
    const char *match = head_get(request, "If-Match"), *none = head_get(request, "If-None-Match");
    const char *method = request->start[0];
    if (match != NULL && (tag == NULL || (strcmp(match, "*") != 0 && strstr(match, tag) == NULL)))
        return 412;
    if (none != NULL && tag != NULL && (strcmp(none, "*") == 0 || strstr(none, tag) != NULL))
        return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ? 304 : 412;
    return 0;
}

bool conditions_allow_range(const struct head *request, const char *tag, const char *modified)
{
    const char *range = head_get(request, "If-Range");
    return range == NULL || strcmp(range, tag) == 0 || strcmp(range, modified) == 0;
}
