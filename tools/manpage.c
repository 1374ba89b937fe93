/* tools/manpage.c - run by the build: writes the manual page of one program to a file. */
#include "cli/output.h"
#include "tools/commands/command.h"

#include <string.h>

enum { MAX_PAGES = 32 };

int main(int argc, char **argv)
{
    const struct cli_page *pages[MAX_PAGES] = {&cli_page_im2rec};
    struct cli_output out;
    if (argc != 3 || (strcmp(argv[1], "im2rec") != 0 && strcmp(argv[1], "ctf2bin") != 0 &&
                      strcmp(argv[1], "imrec") != 0)) {
        fputs("Usage: manpage im2rec|ctf2bin|imrec FILE\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "ctf2bin") == 0)
        pages[0] = &cli_page_ctf2bin;
    if (strcmp(argv[1], "imrec") == 0) {
        pages[0] = &imrec_page;
        for (int i = 0; imrec_commands[i] != NULL && i < MAX_PAGES - 2; i++)
            pages[i + 1] = imrec_commands[i]->page;
    }
    if (!cli_output_open(&out, "manpage", argv[2]))
        return EXIT_FAILED;
    cli_page_man(pages, IMREC_VERSION_STRING, out.file);
    return cli_output_commit(&out, "manpage") ? EXIT_OK : EXIT_FAILED;
}
