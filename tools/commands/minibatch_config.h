/* tools/commands/minibatch_config.h - SOURCE [key=value ...] of the commands that read CNTK's
 * files. */
#ifndef IMREC_TOOLS_COMMANDS_MINIBATCH_CONFIG_H
#define IMREC_TOOLS_COMMANDS_MINIBATCH_CONFIG_H

#include "imrec/imrec.h"

/* Adds a file, or several ('a.ctf;b.ctf'), of any length. */
IMREC_NODISCARD enum imrec_status
minibatch_config_file(struct imrec_minibatch_config *c, const char *files, struct imrec_error *err);
/* Reads a configuration. Of the pairs action=NAME chooses the reader, and NAME=VALUE is what $NAME$
 * stands for; setting them is the caller's. */
IMREC_NODISCARD enum imrec_status minibatch_config_load(struct imrec_minibatch_config *c,
                                                        const char *path, int pairs,
                                                        char *const *pair, struct imrec_error *err);
/* Prints the log of traceLevel=2 on stderr, after the command's name. source: a text, a binary
 * file, several, or a configuration; then the pairs are set. */
IMREC_NODISCARD enum imrec_status
minibatch_config_read(struct imrec_minibatch_config *c, const char *name, const char *source,
                      int pairs, char *const *pair, struct imrec_error *err);
#endif
