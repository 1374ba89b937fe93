/* cli/output.h - a file that gets its name only when it is complete. */
#ifndef IMREC_CLI_OUTPUT_H
#define IMREC_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct cli_output {
    FILE *file;
    char *path, *part; /* part: "PATH.part", where it is written */
};

/* Each says what is wrong in one line on stderr, begun with `name`, and returns false. */
bool cli_output_open(struct cli_output *o, const char *name, const char *path);
/* Replaces what is there, and is not lost when the machine stops. */
bool cli_output_commit(struct cli_output *o, const char *name);
/* Removes a file of an earlier call, so that it is never found next to what is done after it. */
bool cli_output_remove_first(const char *name, const char *path);
void cli_output_abort(struct cli_output *o); /* removes it; zeroed or committed is fine */
#endif
