/* cli/show.h - text out of files on its way to a terminal: base/shown.h says what it becomes.
 */
#ifndef IMREC_CLI_SHOW_H
#define IMREC_CLI_SHOW_H

/* The URI without what may be a secret in it, for reports and pages; lives until the 4th call of
 * either function after this one. */
const char *cli_uri(const char *uri);
/* The text as it may be shown, without secrets of URLs in it; lives as long. */
const char *cli_show(const char *text);

/* One line on stderr, "NAME: ..." and a newline, as it may be shown. Returns EXIT_FAILED. */
__attribute__((format(printf, 2, 3))) int cli_say(const char *name, const char *fmt, ...);
#endif
