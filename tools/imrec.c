/* tools/imrec.c - the toolbox: finds the subcommand and hands over. */
#include "tools/commands/command.h"

#include <string.h>

/* The names as a parameter table, for suggestions. */
static const char *nearest_command(const char *name)
{
    struct param names[32] = {{0}};
    size_t n = 0;
    for (; imrec_commands[n] != NULL && n < 31; n++)
        names[n].name = strchr(imrec_commands[n]->page->name, ' ') + 1;
    const struct param *p = param_nearest(names, name, strlen(name));
    return p != NULL ? p->name : NULL;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; imrec_commands[i] != NULL; i++)
        if (strcmp(strchr(imrec_commands[i]->page->name, ' ') + 1, name) == 0)
            return imrec_commands[i];
    return NULL;
}

static void say_help(FILE *out)
{
    fprintf(out, "Usage: imrec %s\n\n%s\n\nCommands:\n", imrec_page.usage[0], imrec_page.text);
    for (size_t i = 0; imrec_commands[i] != NULL; i++) {
        const struct cli_page *page = imrec_commands[i]->page;
        fprintf(out, "  %-10s %s\n", strchr(page->name, ' ') + 1, page->summary);
    }
    fprintf(out, "\nimrec COMMAND --help says more of each.\n\nExit status: %s\n",
            imrec_page.exits);
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "help") == 0 && argc > 2) { /* imrec help info = imrec info --help */
        static char help[] = "--help";
        name = argv[1] = argv[2];
        argv[2] = help;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        say_help(stdout);
        return EXIT_OK;
    }
    if (strcmp(name, "--version") == 0) {
        puts("imrec " IMREC_VERSION_STRING);
        return EXIT_OK;
    }
    if (name[0] == '\0')
        return cli_refuse(stderr, "imrec", "a command is missing");
    const struct command *c = find_command(name);
    if (c == NULL) {
        const char *near = nearest_command(name);
        return cli_refuse(stderr, "imrec", "unknown command '%.40s'%s%s%s", name,
                          near ? ", did you mean " : "", near ? near : "", near ? "?" : "");
    }
    cli_log(c->page->name, IMREC_LOG_WARNING);
    union {
        const char *in;
        char *out;
    } program = {.in = c->page->name}; /* cli_parse() only reads it */
    argv[1] = program.out;
    return command_run(c, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    return cli_exit("imrec", run(argc, argv));
}
