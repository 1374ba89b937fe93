/* tools/minibatch_config.c */
#include "tools/minibatch_config.h"

#include "tools/cli/memory.h"
#include "tools/cli/report.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Whether a file is a configuration: a word or a comment stands first in it, where a text has a
 * number or a pipe. */
static bool is_configuration(const char *path, int pairs, char *const *pair)
{
    bool binary;
    struct imrec_error err;
    const size_t n = strlen(path);
    if (n > 4 && strcmp(path + n - 4, ".cbf") == 0)
        return false;
    for (int i = 0; i < pairs; i++)
        if (strncmp(pair[i], "input.", 6) == 0)
            return false;
    if (imrec_is_cbf(path, &binary, &err) != IMREC_OK || binary)
        return false;
    FILE *f = fopen(path, "r");
    int c = f != NULL ? getc(f) : EOF;
    while (c != EOF && isspace(c))
        c = getc(f);
    if (f != NULL)
        fclose(f);
    return c != EOF && (isalpha(c) || c == '#');
}

enum imrec_status
minibatch_config_file(struct imrec_minibatch_config *c, const char *files, struct imrec_error *err)
{
    const size_t n = strlen(files) + sizeof("file=");
    char *pair = cli_realloc(NULL, n, 1);
    snprintf(pair, n, "file=%s", files);
    const enum imrec_status st = imrec_minibatch_config_set(c, pair, err); /* keeps a copy */
    cli_free(pair);
    return st;
}

enum imrec_status minibatch_config_read(struct imrec_minibatch_config *c, const char *name,
                                        const char *source, int pairs, char *const *pair,
                                        struct imrec_error *err)
{
    cli_log_traces(name); /* which the library has for trace_level=2 only */
    enum imrec_status st = is_configuration(source, pairs, pair)
                               ? imrec_minibatch_config_load(c, source, err)
                               : minibatch_config_file(c, source, err);
    for (int i = 0; i < pairs && st == IMREC_OK; i++)
        st = imrec_minibatch_config_set(c, pair[i], err);
    return st;
}
