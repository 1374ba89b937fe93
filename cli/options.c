/* cli/options.c - command-line flags out of a parameter table. */
#include "cli/options.h"

#include "cli/show.h"
#include "cli/spoken.h"

#include <stdarg.h>
#include <string.h>

enum { REFUSAL_BYTES = 4096 };

/* What one argument says: the parameter, its value, and how many arguments that took. */
struct flag {
    const char *name, *value;
    size_t n; /* bytes of the name */
    int args;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

int cli_refuse(FILE *errors, const char *name, const char *fmt, ...)
{
    char said[REFUSAL_BYTES], spoken[REFUSAL_BYTES];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(said, sizeof(said), fmt, ap);
    va_end(ap);
    fprintf(errors, "%s: %s; %s --help lists all\n", base_name(name),
            cli_show(cli_spoken(said, spoken, sizeof(spoken))), base_name(name));
    return EXIT_USAGE;
}

bool cli_is_pair(const char *operand)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t n = strspn(operand, name);
    return n > 0 && operand[n] == '=';
}

/* --no-name of a flag called name. */
static const struct param *find_negated(const struct param *table, const struct flag *f)
{
    if (f->n <= 3 || strncmp(f->name, "no-", 3) != 0)
        return NULL;
    const struct param *p = param_find(table, f->name + 3, f->n - 3);
    return p != NULL && p->type == PARAM_FLAG ? p : NULL;
}

/* The value of --name without '=': that of a flag, or the next argument. */
static void find_value(const struct param *table, const char *next, struct flag *f)
{
    const struct param *p = param_find(table, f->name, f->n);
    if (p != NULL && p->type == PARAM_FLAG) {
        f->value = "1";
    } else if (p != NULL && next != NULL && strncmp(next, "--", 2) != 0) {
        f->value = next;
        f->args = 2;
    } else if (p == NULL && find_negated(table, f) != NULL) {
        f->name += 3;
        f->n -= 3;
        f->value = "0";
    }
}

static int
refuse_unknown(const struct param *table, const struct flag *f, FILE *errors, const char *program)
{
    const struct param *near = param_nearest(table, f->name, f->n);
    char name[80] = "";
    if (near != NULL)
        snprintf(name, sizeof(name), ", did you mean --%s?", near->name);
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
    cli_refuse(errors, program, "unknown option --%.*s%s", f->n < 64 ? (int)f->n : 64, f->name,
               name);
    return CLI_BAD;
}

/* The row that a flag's value is set to. */
static const struct param *find_row(const struct param *table, const struct flag *f)
{
    char of[80];
    const struct param *p = param_find(table, f->name, f->n), *singles;
    if (p == NULL || p->type != PARAM_WORD || f->value == NULL || strchr(f->value, '=') == NULL)
        return p;
    snprintf(of, sizeof(of), "%.*s_of", (int)(f->n < 64 ? f->n : 64), f->name);
    singles = param_find(table, of, strlen(of));
    return singles != NULL ? singles : p;
}

/* Reads the flag arg (which begins with "--"); the number of arguments it took, or CLI_BAD. */
static int read_flag(const struct param *table, void *values, const char *arg, const char *next,
                     FILE *errors, const char *program)
{
    struct imrec_error err;
    struct flag f = {.name = arg + 2, .args = 1};
    const char *equals = strchr(f.name, '=');
    f.n = equals != NULL ? (size_t)(equals - f.name) : strlen(f.name);
    if (equals != NULL)
        f.value = equals + 1;
    else
        find_value(table, next, &f);
    const struct param *p = find_row(table, &f);
    if (p == NULL)
        return refuse_unknown(table, &f, errors, program);
    if (f.value == NULL) {
        cli_refuse(errors, program, "--%.*s needs a value", (int)f.n, f.name);
        return CLI_BAD;
    }
    if (param_set(table, values, p->name, strlen(p->name), f.value, &err) != IMREC_OK) {
        cli_refuse(errors, program, "%s", err.message);
        return CLI_BAD;
    }
    return f.args;
}

int cli_parse(const struct param *table, void *values, int argc, char **argv, FILE *errors)
{
    cli_spoken_by(table);
    int operands = 0, i = 1; /* operands found are in argv[1 .. operands] */
    while (i < argc) {
        const char *arg = argv[i];
        if (arg[0] != '-' || arg[1] == '\0') { /* "-" is an operand */
            argv[1 + operands++] = argv[i++];
            continue;
        }
        if (strcmp(arg, "-h") == 0 || strcmp(arg, "--help") == 0)
            return CLI_HELP;
        if (strcmp(arg, "--version") == 0)
            return CLI_VERSION;
        if (strcmp(arg, "--") == 0) {
            for (i++; i < argc; i++)
                argv[1 + operands++] = argv[i];
            break;
        }
        if (arg[1] != '-') {
            cli_refuse(errors, argv[0], "unknown option '%s'", arg);
            return CLI_BAD;
        }
        const int took =
            read_flag(table, values, arg, i + 1 < argc ? argv[i + 1] : NULL, errors, argv[0]);
        if (took == CLI_BAD)
            return CLI_BAD;
        i += took;
    }
    memmove(argv + argc - operands, argv + 1, (size_t)operands * sizeof(*argv));
    return argc - operands;
}
