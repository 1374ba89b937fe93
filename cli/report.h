/* cli/report.h - what a program says besides its results: errors, warnings, its end. */
#ifndef IMREC_CLI_REPORT_H
#define IMREC_CLI_REPORT_H

#include "imrec/error.h"

/* From here on warnings of the library go to stderr, each a line that begins with `name`; the same
 * one once. */
void cli_log_to_stderr(const char *name);
/* ... and traces as well: what the library says where it is asked to, by verbose=1, traceLevel=2.
 */
void cli_log_traces(const char *name);

/* One line on stderr: "NAME: message". Returns EXIT_FAILED. */
int cli_fail(const char *name, const struct imrec_error *err);

/* Last call of main: a result that could not be written to stdout is a failure. */
int cli_exit(const char *name, int status);
#endif
