/* cli/json.c - writes one JSON value to a stream. */
#include "cli/json.h"

#include "base/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A character that is not shown as it is, as JSON escapes it. */
static void put_hidden(FILE *out, const char *shown)
{
    if (shown[1] == 'u')
        fputs(shown, out); /* \u202e means the same here */
    else if (shown[2] >= '8')
        fputs("\xef\xbf\xbd", out); /* no UTF-8 */
    else
        fprintf(out, "\\u00%s", shown + 2);
}

static void put_string(FILE *out, const char *text)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, its letter */
    char shown[SHOWN_BYTES];
    fputc('"', out);
    for (size_t n = strlen(text), took; n > 0; text += took, n -= took) {
        const char *name = named;
        while (*name != '\0' && *name != *text)
            name += 2;
        took = shown_next(text, n, shown);
        if (*name != '\0')
            fprintf(out, "\\%c", name[1]);
        else if (shown[0] == '\\')
            put_hidden(out, shown);
        else
            fputs(shown, out);
    }
    fputc('"', out);
}

static void new_line(struct json *j)
{
    fputc(j->compact ? ' ' : '\n', j->out);
    for (int i = 0; !j->compact && i < 2 * j->depth; i++)
        fputc(' ', j->out);
}

static void begin_value(struct json *j, const char *key)
{
    if (j->depth > 0) {
        if (j->begun[j->depth - 1])
            fputc(',', j->out);
        if (!j->compact || j->begun[j->depth - 1])
            new_line(j);
        j->begun[j->depth - 1] = true;
    }
    if (key != NULL) {
        put_string(j->out, key);
        fputs(": ", j->out);
    }
}

static void begin_nest(struct json *j, const char *key, char opening, char closing)
{
    if (j == NULL)
        return;
    begin_value(j, key);
    if (j->depth == JSON_DEPTH)
        abort(); /* a bug of ours: no data nests our output */
    fputc(opening, j->out);
    j->closing[j->depth] = closing;
    j->begun[j->depth++] = false;
}

void json_open(struct json *j, FILE *out)
{
    *j = (struct json){.out = out};
}

void json_begin(struct json *j, FILE *out)
{
    json_open(j, out);
    json_object(j, NULL);
}

struct json *json_begin_if(bool wanted, struct json *j, const char *list)
{
    if (!wanted)
        return NULL;
    json_begin(j, stdout);
    if (list != NULL)
        json_array(j, list);
    return j;
}

void json_begin_line(struct json *j, FILE *out)
{
    json_open(j, out);
    j->compact = true;
    json_object(j, NULL);
}

void json_object(struct json *j, const char *key)
{
    begin_nest(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
    begin_nest(j, key, '[', ']');
}

void json_end(struct json *j)
{
    if (j == NULL)
        return;
    const bool begun = j->begun[--j->depth];
    if (begun && !j->compact)
        new_line(j);
    fputc(j->closing[j->depth], j->out);
}

void json_text(struct json *j, const char *key, const char *text)
{
    begin_value(j, key);
    put_string(j->out, text);
}

void json_uint(struct json *j, const char *key, uint64_t v)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRIu64, v);
}

void json_uints(struct json *j, const struct json_number *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_uint(j, numbers[i].key, numbers[i].v);
}

void json_int(struct json *j, const char *key, int64_t v)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRId64, v);
}

/* The fewest digits that read back as v; JSON has no numbers that are not finite. */
static void put_real(struct json *j, const char *key, double v, bool is_float)
{
    char text[40];
    if (!isfinite(v)) {
        json_text(j, key, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (is_float ? (double)strtof(text, NULL) == v : strtod(text, NULL) == v)
            break;
    }
    for (char *c = text; *c != '\0'; c++)
        *c = *c == ',' ? '.' : *c; /* a locale's decimal comma */
    begin_value(j, key);
    fputs(text, j->out);
}

void json_real(struct json *j, const char *key, double v)
{
    put_real(j, key, v, false);
}

void json_rounded(struct json *j, const char *key, double v)
{
    char text[40];
    snprintf(text, sizeof(text), "%.6g", v);
    put_real(j, key, isfinite(v) ? strtod(text, NULL) : v, false);
}

void json_measures(struct json *j, const struct json_measure *measures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_rounded(j, measures[i].key, measures[i].v);
}

void json_float(struct json *j, const char *key, float v)
{
    put_real(j, key, (double)v, true);
}

void json_bool(struct json *j, const char *key, bool v)
{
    begin_value(j, key);
    fputs(v ? "true" : "false", j->out);
}

void json_raw(struct json *j, const char *key, const char *json)
{
    begin_value(j, key);
    fputs(json, j->out);
}

void json_close(struct json *j)
{
    if (j == NULL)
        return;
    while (j->depth > 0)
        json_end(j);
    fputc('\n', j->out);
    fflush(j->out);
}
