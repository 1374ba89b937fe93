/* cli/help.c - --help out of a page and its parameter table. */
#include "cli/page.h"

#include <string.h>

enum { LEFT = 32, WIDTH = 100 };

/* Words from column `at` on, broken before WIDTH, further lines indented to LEFT. */
static void wrap(const char *words, int at, FILE *out)
{
    while (*words != '\0') {
        const int n = (int)strcspn(words, " ");
        if (at > LEFT && at + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", LEFT, "");
            at = LEFT;
        } else if (at > LEFT) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", n, words);
        at += n;
        words += n + strspn(words + n, " ");
    }
    fputc('\n', out);
}

static void print_param(const struct param *p, bool key, FILE *out)
{
    char left[128], right[512];
    const bool bare = p->type == PARAM_FLAG && !key;
    const char *unit = bare ? "" : p->unit[0] != '\0' ? p->unit : "N";
    snprintf(left, sizeof(left), "  %s%s%s%s", key ? "" : "--", p->name, bare ? "" : "=", unit);
    for (char *c = left; !key && *c != '\0' && *c != '='; c++)
        *c = *c == '_' ? '-' : *c;
    if (p->preset == NULL) /* the command itself gives what key=value leaves out */
        snprintf(right, sizeof(right), "%s%s", p->help, key ? "" : " (required)");
    else if (bare && p->preset[0] == '1')
        snprintf(right, sizeof(right), "%s [on; --no-%s]", p->help, p->name);
    else if (bare || p->preset[0] == '\0')
        snprintf(right, sizeof(right), "%s", p->help);
    else
        snprintf(right, sizeof(right), "%s [%s]", p->help, p->preset);
    const int n = (int)strlen(left);
    if (n < LEFT - 1)
        fprintf(out, "%-*s", LEFT, left);
    else
        fprintf(out, "%s\n%*s", left, LEFT, "");
    wrap(right, LEFT, out);
}

static void print_table(const struct param *table, bool key, FILE *out)
{
    for (const struct param *first = table; first->name != NULL; first++) {
        const struct param *p = table;
        while (strcmp(p->group, first->group) != 0)
            p++;
        if (p != first)
            continue; /* its group is printed already */
        fprintf(out, "\n%s:\n", first->group);
        for (; p->name != NULL; p++)
            if (strcmp(p->group, first->group) == 0)
                print_param(p, key, out);
    }
}

void cli_help(const struct param *table, FILE *out)
{
    print_table(table, false, out);
}

void cli_page_help(const struct cli_page *page, FILE *out)
{
    for (size_t i = 0; page->usage[i] != NULL; i++)
        fprintf(out, "%s %s %s\n", i == 0 ? "Usage:" : "      ", page->name, page->usage[i]);
    fprintf(out, "\n%s\n", page->text);
    cli_help(page->table, out);
    fputs("\n  --help, --version           say this, or the version, and end\n", out);
    for (const struct cli_keys *k = page->keys; k != NULL && k->title != NULL; k++) {
        fprintf(out, "\n%s, key=value after the operands:\n", k->title);
        print_table(k->table, true, out);
    }
    if (page->examples != NULL)
        fprintf(out, "\nExamples:\n%s", page->examples);
    if (page->exits != NULL)
        fprintf(out, "\nExit status: %s\n", page->exits);
}
