/* tools/commands/imrec_sequences.h - info, verify and cat for sequences: CNTK's text (CTF), and cat
 * for its binary format. */
#ifndef IMREC_TOOLS_COMMANDS_IMREC_SEQUENCES_H
#define IMREC_TOOLS_COMMANDS_IMREC_SEQUENCES_H

#include "tools/commands/command.h"

#define ROW_CONFIG(X)                                                                              \
    X(const char *, config, "", 0, 65535, "FILE", "sequences",                                     \
      "CNTK files: what the inputs are, as reader = [ ... ]")
#define SEQUENCES_KEYS                                                                             \
    "A text's inputs are described by key=value operands, input.NAME.format=dense|sparse,\n"       \
    "input.NAME.dim=N, input.NAME.alias=A, or by --config FILE, a CNTK configuration; key=value\n" \
    "changes what it says. imrec minibatches --help lists the keys, and says how a reader of a\n"  \
    "whole configuration is chosen (action=NAME)."
#define SEQUENCES_CONFIGURATION                                                                    \
    "A whole configuration (command = ..., actions with a reader each, SGD, networks) is read "    \
    "as\n"                                                                                         \
    "it is. Several readers: action=NAME chooses one, by the name of its section or of its\n"      \
    "action (train, test). $NAME$ is replaced by the configuration's own value of NAME, or by\n"   \
    "that of NAME=VALUE among the operands. Names of keys are compared without case and '_':\n"    \
    "maxErrors is max_errors.\n\n"

extern const struct cli_keys sequences_keys[]; /* for pages */

struct sequences_request {
    const char *name; /* of the command */
    const char *config;
    char *const *operand; /* the file, then key=value */
    int operands;
    const char *id; /* cat: of one sequence, NULL: all */
    bool json;
};

struct sequences_request sequences_request(const struct cli_page *page, const char *config,
                                           bool json, int operands, char *const *operand);

/* key=value, of which the key may be "input.NAME.key"; a path with '=' in it can be written ./a=b.
 */
bool sequences_is_pair(const char *operand);

/* Whether the operands mean such files: by their bytes, by key=value operands, by --config. */
bool sequences_are_asked(const struct sequences_request *r);
bool sequences_are_binary(const struct sequences_request *r);

/* A configuration of what is asked for; free it whatever is returned. EXIT_OK, or what the command
 * ends with after one line on stderr. */
int sequences_configure(const struct sequences_request *r, struct imrec_minibatch_config **out);

int sequences_info(const struct sequences_request *r);
int sequences_verify(const struct sequences_request *r);
int sequences_cat(const struct sequences_request *r);
#endif
