/* tools/cli/page_im2rec.c - what im2rec says of itself; the flags are imrec/packer.h's table. */
#include "imrec/packer.h"
#include "tools/cli/page.h"

#define PARAM_STRUCT struct imrec_pack_options
static const struct param table[] = {IMREC_PACK_PARAMS(PARAM_ROW){0}};

static const char *const usage[] = {
    "[OPTIONS] FOLDER OUT.rec",
    "[OPTIONS] LIST.lst ROOT OUT.rec",
    "--list [OPTIONS] FOLDER PREFIX",
    NULL,
};

const struct cli_page cli_page_im2rec = {
    .name = "im2rec",
    .summary = "pack pictures into RecordIO shards",
    .usage = usage,
    .text =
        "Packs the pictures of FOLDER, one class a sub-folder, or those that LIST.lst names below\n"
        "ROOT, into OUT.rec, with its index, list, class list, checksums and manifest beside it.\n"
        "The files appear under their names when all is written; an interrupted run leaves no "
        "set,\n"
        "and --resume goes on with it. The bytes are the same for every number of threads.\n"
        "\n"
        "A picture that cannot be packed is skipped, counted and named with the reason.\n"
        "\n"
        "Options may stand anywhere; key=value in the spelling of the original im2rec may follow\n"
        "the operands.",
    .table = table,
    .examples = "  im2rec --resize 256 photos/ train.rec\n"
                "  im2rec --list --train-ratio 0.9 photos/ set\n"
                "  im2rec --pass-through --shards 8 set_train.lst photos/ train.rec\n",
    .exits = "0 all packed, 1 failed, 2 wrong usage, 3 packed, but some pictures skipped",
};
