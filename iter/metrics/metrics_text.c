/* iter/metrics/metrics_text.c - Prometheus' text format, version 0.0.4. */
#include "iter/metrics/metrics.h"

#include "base/error.h"
#include "base/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUE_BYTES 101u /* of a label, NUL included */

/* The format's own escapes; what is no text, or moves a cursor, is shown as "\x1b" before. */
static void escape(char *to, size_t room, const char *text)
{
    size_t n = 0;
    for (; *text != '\0' && n + 2 < room; text++) {
        if (*text == '"' || *text == '\\')
            to[n++] = '\\';
        to[n++] = *text;
    }
    to[n] = '\0';
}

void metrics_label(struct metrics_source *s, const char *name, const char *value)
{
    char shown[VALUE_BYTES], escaped[2 * VALUE_BYTES];
    const size_t n = strlen(s->labels);
    shown_copy(shown, sizeof(shown), value);
    escape(escaped, sizeof(escaped), shown);
    const int more = snprintf(s->labels + n, sizeof(s->labels) - n, "%s%s=\"%s\"",
                              n != 0 ? "," : "", name, escaped);
    if (more < 0 || (size_t)more >= sizeof(s->labels) - n)
        s->labels[n] = '\0'; /* no label is cut */
}

static int value_text(const struct metric *m, char *to, size_t room)
{
    const uint64_t v = m->value, second = 1000000000;
    if (m->kind == METRIC_COUNTER_SECONDS) /* digits alone: no locale changes them */
        return snprintf(to, room, "%" PRIu64 ".%09" PRIu64, v / second, v % second);
    return snprintf(to, room, "%" PRIu64, v);
}

enum imrec_status metrics_write(const struct metric *m, size_t n, const char *labels,
                                struct buf *out, struct imrec_error *err)
{
    for (size_t i = 0; i < n; i++) {
        char value[40], text[1024];
        (void)value_text(&m[i], value, sizeof(value));
        const int bytes = snprintf(
            text, sizeof(text), "# HELP %s %s\n# TYPE %s %s\n%s{%s} %s\n", m[i].name, m[i].help,
            m[i].name, m[i].kind == METRIC_GAUGE ? "gauge" : "counter", m[i].name, labels, value);
        if (bytes < 0 || (size_t)bytes >= sizeof(text))
            return imrec_fail(err, IMREC_ERR_LIMIT,
                              "metrics: the lines of %.60s have over %zu bytes", m[i].name,
                              sizeof(text));
        IMREC_TRY(buf_append(out, text, (size_t)bytes, err));
    }
    return IMREC_OK;
}
