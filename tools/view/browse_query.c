/* tools/view/browse_query.c - what a browser asks for, out of the query of a URL. */
#include "tools/view/browse_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The value p[0..n) without its encoding; false: too long, wrongly encoded, or with a NUL in it. */
static bool decode(const char *p, size_t n, char *to, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        int c = p[i] == '+' ? ' ' : p[i];
        if (c == '%') {
            if (n - i < 3 || hex(p[i + 1]) < 0 || hex(p[i + 2]) < 0)
                return false;
            c = hex(p[i + 1]) << 4 | hex(p[i + 2]);
            i += 2;
        }
        if (c == 0 || used + 1 >= room)
            return false;
        to[used++] = (char)c;
    }
    to[used] = '\0';
    return true;
}

static bool read_number(const char *text, uint64_t *out)
{
    const char *c = text;
    for (*out = 0; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(*out, (uint64_t)10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*c - '0'), out))
            return false;
    return c != text && *c == '\0';
}

/* A class by its name, or a label by its number. */
static bool
read_class(const char *text, const struct imrec_classes *classes, struct browse_query *q)
{
    char *end;
    q->has_label = true;
    snprintf(q->class_text, sizeof(q->class_text), "%s", text);
    const uint64_t n = imrec_classes_count(classes);
    for (uint64_t i = 0; i < n; i++) {
        const char *name = imrec_classes_name(classes, (float)i);
        if (name != NULL && strcmp(name, text) == 0) {
            q->label = (float)i;
            return true;
        }
    }
    q->label = strtof(text, &end);
    return end != text && *end == '\0' && isfinite(q->label);
}

/* One key=value; an empty value, as forms send it, asks for nothing. */
static bool take(const char *key, const char *value, const struct imrec_classes *classes,
                 struct browse_query *q, char why[200])
{
    bool good = true;
    if (value[0] == '\0')
        return true;
    if (strcmp(key, "class") == 0) {
        good = read_class(value, classes, q);
    } else if (strcmp(key, "id") == 0) {
        good = q->has_id = read_number(value, &q->id);
    } else if (strcmp(key, "min") == 0) {
        good = read_number(value, &q->min_bytes);
    } else if (strcmp(key, "max") == 0) {
        good = read_number(value, &q->max_bytes);
    } else if (strcmp(key, "page") == 0) {
        good = read_number(value, &q->page);
    } else if (strcmp(key, "damaged") == 0) {
        q->damaged = good = strcmp(value, "1") == 0;
    } else {
        snprintf(why, 200, "there is no parameter '%.60s'", key);
        return false;
    }
    if (!good && strcmp(key, "class") == 0)
        snprintf(why, 200, "no class is called '%.100s', and it is no number", value);
    else if (!good)
        snprintf(why, 200, "%.20s must be %s, not '%.60s'", key,
                 strcmp(key, "damaged") == 0 ? "1" : "a number", value);
    return good;
}

bool browse_query_read(const char *text, const struct imrec_classes *classes,
                       struct browse_query *out, char why[200])
{
    char key[32], value[128];
    *out = (struct browse_query){.max_bytes = UINT64_MAX};
    while (*text != '\0') {
        const size_t n = strcspn(text, "&"), name = strcspn(text, "=&");
        const size_t from = name < n ? name + 1 : n;
        if (!decode(text, name, key, sizeof(key)) ||
            !decode(text + from, n - from, value, sizeof(value))) {
            snprintf(why, 200, "a parameter is too long, or wrongly encoded");
            return false;
        }
        if (!take(key, value, classes, out, why))
            return false;
        text += n + (text[n] == '&');
    }
    return true;
}

static void encode(const char *text, FILE *out)
{
    for (; *text != '\0'; text++)
        if ((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
            (*text >= 'A' && *text <= 'Z'))
            fputc(*text, out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
}

void browse_query_write(const struct browse_query *q, FILE *out)
{
    if (q->has_label) {
        fputs("class=", out);
        encode(q->class_text, out);
        fputs("&amp;", out);
    }
    if (q->has_id)
        fprintf(out, "id=%" PRIu64 "&amp;", q->id);
    if (q->min_bytes != 0)
        fprintf(out, "min=%" PRIu64 "&amp;", q->min_bytes);
    if (q->max_bytes != UINT64_MAX)
        fprintf(out, "max=%" PRIu64 "&amp;", q->max_bytes);
    if (q->damaged)
        fputs("damaged=1&amp;", out);
}
