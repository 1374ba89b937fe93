/* tests/support/http_proxy/head.c - start line and fields, each a string of its own. */
#include "tests/support/http_proxy/head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t head_size(const struct fifo *f)
{
    const char *end = fifo_size(f) == 0 ? NULL : memmem(fifo_front(f), fifo_size(f), "\r\n\r\n", 4);
    return end == NULL ? 0 : (size_t)(end - fifo_front(f)) + 4;
}

void head_start(struct head *h, const char *a, const char *b, const char *c)
{
    const char *const parts[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        free(h->start[i]);
        h->start[i] = must_copy(parts[i]);
    }
}

static bool parse_start(struct head *h, char *line)
{
    char *second = strchr(line, ' ');
    if (second == NULL || second == line)
        return false;
    *second++ = '\0';
    char *third = strchr(second, ' ');
    if (third != NULL)
        *third++ = '\0';
    head_start(h, line, second, third != NULL ? third : "");
    return strncmp(line, "HTTP/1.", 7) == 0 || (third != NULL && strncmp(third, "HTTP/1.", 7) == 0);
}

static bool parse_field(struct head *h, char *line)
{
    char *value = strchr(line, ':');
    if (value == NULL || value == line || strcspn(line, " \t") < (size_t)(value - line))
        return false;
    *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t n = strlen(value); n != 0 && strchr(" \t", value[n - 1]) != NULL; n--)
        value[n - 1] = '\0';
    head_add(h, line, value);
    return true;
}

bool head_parse(struct head *h, const char *p, size_t n)
{
    char *text = must(malloc(n + 1));
    memcpy(text, p, n);
    text[n] = '\0';
    bool good = strlen(text) == n, first = true;
    for (char *line = text, *end; good && (end = strstr(line, "\r\n")) != line; line = end + 2) {
        good = end != NULL;
        if (!good)
            break;
        *end = '\0';
        good = first ? parse_start(h, line) : parse_field(h, line);
        first = false;
    }
    free(text);
    return good && !first;
}

void head_write(const struct head *h, struct fifo *out)
{
    fifo_print(out, "%s %s %s\r\n", h->start[0], h->start[1], h->start[2]);
    for (size_t i = 0; i < h->count; i++)
        fifo_print(out, "%s: %s\r\n", h->fields[i].name, h->fields[i].value);
    fifo_add(out, "\r\n", 2);
}

void head_free(struct head *h)
{
    for (int i = 0; i < 3; i++)
        free(h->start[i]);
    for (size_t i = 0; i < h->count; i++) {
        free(h->fields[i].name);
        free(h->fields[i].value);
    }
    free(h->fields);
    *h = (struct head){0};
}

const char *head_get(const struct head *h, const char *name)
{
    for (size_t i = 0; i < h->count; i++)
        if (strcasecmp(h->fields[i].name, name) == 0)
            return h->fields[i].value;
    return NULL;
}

bool head_has_word(const struct head *h, const char *name, const char *word)
{
    for (size_t i = 0; i < h->count; i++)
        if (strcasecmp(h->fields[i].name, name) == 0 &&
            strcasestr(h->fields[i].value, word) != NULL)
            return true;
    return false;
}

void head_add(struct head *h, const char *name, const char *value)
{
    if (h->count == h->room) {
        h->room = 2 * h->room + 16;
        h->fields = must(realloc(h->fields, h->room * sizeof(*h->fields)));
    }
    h->fields[h->count++] = (struct field){must_copy(name), must_copy(value)};
}

void head_set(struct head *h, const char *name, const char *value)
{
    char *kept = must_copy(value); /* which may be the field's own */
    head_remove(h, name);
    head_add(h, name, kept);
    free(kept);
}

void head_remove(struct head *h, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++) {
        if (strcasecmp(h->fields[i].name, name) == 0) {
            free(h->fields[i].name);
            free(h->fields[i].value);
        } else {
            h->fields[kept++] = h->fields[i];
        }
    }
    h->count = kept;
}

bool head_keeps_alive(const struct head *h, const char *version)
{
    if (strcmp(version, "HTTP/1.0") == 0)
        return head_has_word(h, "Connection", "keep-alive");
    return !head_has_word(h, "Connection", "close");
}
