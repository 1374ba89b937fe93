/* param_rows GROUP - the parameters of a group of the iterator's table, or of the readers'
 * (reading), as rows of Markdown. */
#include "imrec/iterator.h"
#include "imrec/reader_options.h"

#include <stdio.h>
#include <string.h>

struct row {
    const char *type, *name, *preset;
    long double lo, hi;
    const char *unit, *group, *help;
};

#define ROW(ctype, name, preset, lo, hi, unit, group, help, scope)                                 \
    {#ctype, #name, preset, lo, hi, unit, group, help},
#define READER_ROW(...) ROW(__VA_ARGS__, 0)
static const struct row rows[] = {IMREC_ITER_PARAMS(ROW) IMREC_READER_PARAMS(READER_ROW)};

static void print_list(const char *list)
{
    for (; *list != '\0'; list++)
        printf("%s%c", *list == '|' ? "\\" : "", *list);
}

/* What may stand there: words, a range, or a list. */
static void print_values(const struct row *r)
{
    if (strncmp(r->type, "enum", 4) == 0) {
        for (const char *c = r->unit; *c != '\0'; c++)
            if (*c == '|')
                fputs(", ", stdout);
            else
                putchar(*c);
    } else if (strchr(r->type, '*') != NULL)
        print_list(r->unit);
    else
        printf("%.9Lg to %.9Lg", r->lo, r->hi);
}

int main(int argc, char **argv)
{
    puts("| name | default | values | |\n|---|---|---|---|");
    for (size_t i = 0; argc == 2 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        if (strcmp(r->group, argv[1]) != 0)
            continue;
        printf("| `%s` | %s | ", r->name, r->preset);
        print_values(r);
        printf(" | %s |\n", r->help);
    }
    return argc == 2 ? 0 : 2;
}
