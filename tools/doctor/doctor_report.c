/* tools/doctor/doctor_report.c - facts in sections, each with a line of advice. */
#include "tools/doctor/doctor_report.h"

#include "cli/human.h"
#include "cli/show.h"

#include <stdarg.h>

enum { ADVICE_BYTES = 600 };

void doctor_begin(struct doctor_report *r, bool as_json)
{
    *r = (struct doctor_report){.as_json = as_json};
    if (as_json)
        json_begin(&r->json, stdout);
}

void doctor_section(struct doctor_report *r, const char *key, const char *title)
{
    if (r->as_json)
        json_object(&r->json, key);
    else
        printf("%s%s\n", r->sections > 0 ? "\n" : "", title);
    r->sections++;
}

static void print(const char *label, const char *value, const char *unit)
{
    printf("  %-22s %s%s%s\n", label, cli_show(value), unit[0] != '\0' ? " " : "", unit);
}

void doctor_text(struct doctor_report *r, const char *key, const char *label, const char *value)
{
    if (r->as_json)
        json_text(&r->json, key, cli_uri(value));
    else if (label != NULL)
        print(label, value, "");
}

void doctor_count(struct doctor_report *r, const char *key, const char *label, uint64_t n)
{
    char text[HUMAN_BYTES];
    if (r->as_json)
        json_uint(&r->json, key, n);
    else if (label != NULL)
        print(label, human_count(n, text), "");
}

void doctor_bytes(struct doctor_report *r, const char *key, const char *label, uint64_t bytes)
{
    char text[HUMAN_BYTES];
    if (r->as_json)
        json_uint(&r->json, key, bytes);
    else if (label != NULL)
        print(label, human_size(bytes, text), "");
}

void doctor_real(struct doctor_report *r, const char *key, const char *label, double v,
                 const char *unit)
{
    char text[64];
    snprintf(text, sizeof(text), v < 100 ? "%.3g" : "%.0f", v);
    if (r->as_json)
        json_rounded(&r->json, key, v);
    else if (label != NULL)
        print(label, text, unit);
}

void doctor_list(struct doctor_report *r, const char *key, const char *label,
                 const char *const *list)
{
    if (r->as_json) {
        json_array(&r->json, key);
        for (; *list != NULL; list++)
            json_text(&r->json, NULL, *list);
        json_end(&r->json);
        return;
    }
    printf("  %-22s", label);
    if (*list == NULL)
        fputs(" none", stdout);
    for (; *list != NULL; list++)
        printf(" %s", cli_show(*list));
    putchar('\n');
}

void doctor_advise(struct doctor_report *r, const char *fmt, ...)
{
    char text[ADVICE_BYTES];
    va_list more;
    va_start(more, fmt);
    vsnprintf(text, sizeof(text), fmt, more);
    va_end(more);
    if (r->as_json) {
        json_text(&r->json, "advice", text);
        json_end(&r->json);
    } else {
        printf("  -> %s\n", cli_show(text));
    }
}

void doctor_end(struct doctor_report *r)
{
    if (r->as_json)
        json_close(&r->json);
}
