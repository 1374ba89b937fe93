/* tools/imrec_commands.c - the list of subcommands, and the page of the program itself. */
#include "tools/commands/command.h"

static const struct param no_flags[] = {{0}};

const struct cli_page imrec_page = {
    .name = "imrec",
    .summary = "show, check, mend and measure shards of image records",
    .usage = {"COMMAND [OPTIONS] SHARD... [key=value ...]"},
    .text =
        "SHARD is a .rec file, 'a.rec;b.rec', a directory (its *.rec), a glob in quotes, or the\n"
        "NAME.manifest.json of a set.\n"
        "Options may be anywhere after the command. Results go to standard output (with\n"
        "--json as one object), progress and warnings to standard error.",
    .table = no_flags,
    .exits = IMREC_EXITS,
};

const struct command *const imrec_commands[] = {
    &command_info,    &command_ls,      &command_cat,
    &command_export,  &command_verify,  &command_repair,
    &command_index,   &command_view,    &command_batches,
    &command_bench,   &command_convert, &command_minibatches,
    &command_merge,   &command_split,   &command_sample,
    &command_relabel, &command_tile,    &command_cache,
    &command_doctor,  &command_top,     NULL,
};
