/* cli/page.h - what a command says of itself: once, for --help and for the manual. */
#ifndef IMREC_CLI_PAGE_H
#define IMREC_CLI_PAGE_H

#include "base/param.h"

#include <stdio.h>

/* key=value operands of one kind. */
struct cli_keys {
    const char *title; /* "Iterator parameters"; NULL ends an array */
    const struct param *table;
};

struct cli_page {
    const char *name;            /* "im2rec", "imrec info" */
    const char *summary;         /* a line without a full stop: "pack images into record shards" */
    const char *usage[12];       /* what follows the name, one form each; NULL at the end */
    const char *text;            /* paragraphs, an empty line between them */
    const struct param *table;   /* flags */
    const struct cli_keys *keys; /* key=value operands, or NULL */
    const char *examples;        /* lines of shell, or NULL */
    const char *exits;           /* what each exit status means, in a line */
};

/* Usage, text, every flag with unit and default, group by group, examples. */
void cli_page_help(const struct cli_page *page, FILE *out);

/* The flags alone. */
void cli_help(const struct param *table, FILE *out);

/* A manual page, man(7): `pages` has the program itself first, then its subcommands, and ends
 * with NULL. `version` as "0.1.0"; no date: equal builds give equal bytes. */
void cli_page_man(const struct cli_page *const *pages, const char *version, FILE *out);

extern const struct cli_page cli_page_im2rec, cli_page_ctf2bin;
#endif
