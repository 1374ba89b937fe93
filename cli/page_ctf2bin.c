/* cli/page_ctf2bin.c - what ctf2bin says of itself; the flags are imrec/convert.h's table, and its
 * own. */
#include "cli/page.h"
#include "cli/program_flags.h"

/* clang-format off */
static const struct param table[] = {
#define PARAM_STRUCT struct imrec_convert_options
    IMREC_CONVERT_PARAMS(PARAM_ROW)
#undef PARAM_STRUCT
#define PARAM_STRUCT struct ctf2bin_flags
    CTF2BIN_PARAMS(PARAM_ROW)
    {0}};
/* clang-format on */

const struct cli_page cli_page_ctf2bin = {
    .name = "ctf2bin",
    .summary = "convert CNTK's text format into its binary format",
    .usage = {"--input FILE.ctf --header FILE --output FILE.cbf [OPTIONS]"},
    .text =
        "Reads the text in parallel and writes it as a binary file (CBF) of chunks. The bytes are\n"
        "the same for every number of threads; the file gets its name when it is complete. The "
        "text\n"
        "follows the grammar of docs/formats/ctf.md; an error is named with line, column and\n"
        "reason.\n"
        "\n"
        "Each line of the header file is '<name> <alias> <dense|sparse> <dim>', and 'float' or\n"
        "'double' as a fifth word where it differs from --precision: the alias is the name of\n"
        "the input in the text, the name its name in the binary file. A CNTK configuration can\n"
        "take its place: the inputs of its reader, with its skipSequenceIds, frameMode,\n"
        "ignoreUnknownInputs and maxErrors.",
    .table = table,
    .examples = "  ctf2bin --input train.ctf --header inputs.txt --output train.cbf\n"
                "  ctf2bin --input t.ctf --header h --output t.cbf --chunk-size 64M --precision "
                "double\n"
                "  ctf2bin --input t.ctf --header h --output t.cbf --precision features=double\n"
                "  ctf2bin --input t.ctf --header whole.cntk --action train --output t.cbf\n",
    .exits = "0 converted, 1 failed, 2 wrong usage, 3 converted, but bad samples were dropped",
};
