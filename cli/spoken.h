/* cli/spoken.h - the library's sentences with the names that options have on a command line. */
#ifndef IMREC_CLI_SPOKEN_H
#define IMREC_CLI_SPOKEN_H

#include "base/param.h"

/* The program's flags, which cli_parse() reads. Borrowed. */
void cli_spoken_by(const struct param *table);

/* The sentence in out[0..n), where parameters that are flags of the program are written as such:
 * "on_error=skip" becomes "--on-error=skip", "force replaces it" "--force replaces it". Returns
 * out.
 */
const char *cli_spoken(const char *sentence, char *out, size_t n);
#endif
