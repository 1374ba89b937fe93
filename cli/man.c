/* cli/man.c - a manual page, man(7), out of the pages and tables that --help prints. */
#include "cli/page.h"

#include <ctype.h>
#include <string.h>

/* Text as troff takes it: no request at a line's start, '-' as ASCII, backslash printed. */
static void put(const char *text, size_t n, FILE *out)
{
    bool start = true;
    for (size_t i = 0; i < n; i++) {
        if (start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        start = text[i] == '\n';
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
    }
}

static void put_line(const char *text, FILE *out)
{
    put(text, strlen(text), out);
    fputc('\n', out);
}

/* Paragraphs with an empty line between them; the caller has begun the first. */
static void put_paragraphs(const char *text, FILE *out)
{
    for (;;) {
        const char *end = strstr(text, "\n\n");
        put(text, end != NULL ? (size_t)(end - text) : strlen(text), out);
        fputc('\n', out);
        if (end == NULL)
            return;
        fputs(".PP\n", out);
        text = end + 2;
    }
}

static void put_param(const struct param *p, bool key, FILE *out)
{
    char name[96];
    const bool bare = p->type == PARAM_FLAG && !key;
    snprintf(name, sizeof(name), "%s%s", key ? "" : "--", p->name);
    for (char *c = name; !key && *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
    fputs(".TP\n\\fB", out);
    put(name, strlen(name), out);
    fputs("\\fR", out);
    if (!bare) {
        fputs("=\\fI", out);
        put(p->unit[0] != '\0' ? p->unit : "N", strlen(p->unit[0] != '\0' ? p->unit : "N"), out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put(p->help, strlen(p->help), out);
    if (p->preset == NULL)
        fputs(key ? "" : " (required)", out);
    else if (!bare && p->preset[0] != '\0') {
        fputs("; default ", out);
        put(p->preset, strlen(p->preset), out);
    } else if (bare && p->preset[0] == '1')
        fputs(" (on by default)", out);
    fputs(".\n", out);
}

static void put_table(const struct param *table, bool key, FILE *out)
{
    for (const struct param *p = table; p->name != NULL; p++)
        put_param(p, key, out);
}

static void put_usage(const struct cli_page *page, FILE *out)
{
    for (size_t i = 0; page->usage[i] != NULL; i++) {
        fputs(i == 0 ? ".B " : ".br\n.B ", out);
        put_line(page->name, out);
        put_line(page->usage[i], out);
    }
}

static void put_title(const char *name, const char *version, FILE *out)
{
    fputs(".TH ", out);
    for (const char *c = name; *c != '\0'; c++)
        fputc(toupper((unsigned char)*c), out);
    fprintf(out, " 1 \"\" \"imrec %s\" \"imrec manual\"\n", version);
}

static void put_examples(const struct cli_page *page, FILE *out)
{
    fputs(".EX\n", out);
    put(page->examples, strlen(page->examples), out);
    fputs(".EE\n", out);
}

static void put_command(const struct cli_page *page, FILE *out)
{
    fprintf(out, ".SS %s\n", strrchr(page->name, ' ') + 1);
    put_usage(page, out);
    fputs(".PP\n", out);
    put_paragraphs(page->text, out);
    put_table(page->table, false, out);
    if (page->examples != NULL) {
        fputs(".PP\n", out);
        put_examples(page, out);
    }
}

/* Whether a page before `last` has these keys, too. */
static bool were_printed(const struct cli_page *const *pages, const struct cli_page *last,
                         const struct param *table)
{
    for (; *pages != last; pages++)
        for (const struct cli_keys *k = (*pages)->keys; k != NULL && k->title != NULL; k++)
            if (k->table == table)
                return true;
    return false;
}

/* The keys of all pages, each kind once. */
static void put_keys(const struct cli_page *const *pages, FILE *out)
{
    for (size_t i = 0; pages[i] != NULL; i++)
        for (const struct cli_keys *k = pages[i]->keys; k != NULL && k->title != NULL; k++) {
            if (were_printed(pages, pages[i], k->table))
                continue;
            fputs(".SH ", out);
            for (const char *c = k->title; *c != '\0'; c++)
                fputc(toupper((unsigned char)*c), out);
            fputs("\nGiven as key=value after the operands.\n", out);
            put_table(k->table, true, out);
        }
}

void cli_page_man(const struct cli_page *const *pages, const char *version, FILE *out)
{
    const struct cli_page *program = pages[0];
    put_title(program->name, version, out);
    fputs(".SH NAME\n", out);
    put(program->name, strlen(program->name), out);
    fputs(" \\- ", out);
    put_line(program->summary, out);
    fputs(".SH SYNOPSIS\n", out);
    put_usage(program, out);
    fputs(".SH DESCRIPTION\n", out);
    put_paragraphs(program->text, out);
    if (program->table != NULL && program->table->name != NULL) {
        fputs(".SH OPTIONS\n", out);
        put_table(program->table, false, out);
    }
    if (pages[1] != NULL)
        fputs(".SH COMMANDS\n", out);
    for (size_t i = 1; pages[i] != NULL; i++)
        put_command(pages[i], out);
    put_keys(pages, out);
    if (program->examples != NULL) {
        fputs(".SH EXAMPLES\n", out);
        put_examples(program, out);
    }
    fputs(".SH EXIT STATUS\n", out);
    put_line(program->exits, out);
}
