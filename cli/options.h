/* cli/options.h - command-line flags out of a parameter table. */
#ifndef IMREC_CLI_OPTIONS_H
#define IMREC_CLI_OPTIONS_H

#include "base/param.h"

#include <stdio.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_PARTIAL = 3 };
enum { CLI_BAD = -1, CLI_HELP = -2, CLI_VERSION = -3 };

/* A parameter of words that also has a row NAME_of takes "key=word,..." as well, which is set
 * there: --precision double, --precision x=double.
 *
 * Reads --name=value, --name value, --flag and --no-flag into *values, which already holds the
 * defaults; flags may be before, between and after the operands, and "--" ends them. The
 * operands are moved, in their order, to the end of argv. Returns the index of the first operand
 * (argc: there is none), CLI_HELP (-h, --help), CLI_VERSION, or CLI_BAD after one line on `errors`
 * that names the flag and what would be right. argv[0] is the name that line begins with. */
int cli_parse(const struct param *table, void *values, int argc, char **argv, FILE *errors);

/* One line on `errors`: "NAME: what is wrong; NAME --help lists all". Returns EXIT_USAGE. */
__attribute__((format(printf, 3, 4))) int
cli_refuse(FILE *errors, const char *name, const char *fmt, ...);

/* True for an operand of the form key=value: letters, digits, '_' and '-' before the '='. */
bool cli_is_pair(const char *operand);
#endif
