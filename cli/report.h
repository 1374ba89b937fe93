/* cli/report.h - what a program says besides its results: errors, warnings, its end. */
#ifndef IMREC_CLI_REPORT_H
#define IMREC_CLI_REPORT_H

#include "imrec/error.h"

/* From here on what the library logs goes to stderr, each a line that begins with `name`; the same
 * one once. IMREC_LOG_WARNING, or IMREC_LOG_TRACE: with what it says where it is asked to, by
 * verbose=1, traceLevel=2. */
void cli_log(const char *name, enum imrec_log_level level);

/* One line on stderr: "NAME: message". Returns EXIT_FAILED. */
int cli_fail(const char *name, const struct imrec_error *err);

/* Last call of main: a result that could not be written to stdout is a failure. */
int cli_exit(const char *name, int status);
#endif
