/* tools/commands/minibatch_config.c */
#include "tools/commands/minibatch_config.h"

#include "cli/memory.h"
#include "cli/report.h"
#include "imrec/file_kind.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool ends_with(const char *path, const char *suffix)
{
    const size_t n = strlen(path), k = strlen(suffix);
    return n > k && strcmp(path + n - k, suffix) == 0;
}

/* Whether what a file begins with can be a configuration: a name, a comment, or the dots of CNTK's
 * pages, where a text has a number or a pipe. */
static bool begins_as_configuration(const char *p)
{
    if (strncmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    while (isspace((unsigned char)*p))
        p++;
    return isalpha((unsigned char)*p) || *p == '_' || *p == '#' || *p == '/' ||
           strncmp(p, "...", 3) == 0;
}

static bool is_configuration(const char *path, enum imrec_file_kind kind)
{
    char begin[4096];
    static const char scheme[] = "file://", recordio[] = "\x0a\x23\xd7\xce";
    if (ends_with(path, ".ctf") || kind == IMREC_FILE_CBF)
        return false;
    FILE *f = fopen(path + (strncmp(path, scheme, strlen(scheme)) == 0 ? strlen(scheme) : 0), "rb");
    const size_t n = f != NULL ? fread(begin, 1, sizeof(begin) - 1, f) : 0;
    if (f != NULL)
        fclose(f);
    begin[n] = '\0';
    return memcmp(begin, recordio, n < 4 ? n : 4) != 0 && begins_as_configuration(begin);
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

enum imrec_status minibatch_config_load(struct imrec_minibatch_config *c, const char *path,
                                        int pairs, char *const *pair, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    for (int i = 0; i < pairs && st == IMREC_OK; i++)
        if (strncmp(pair[i], "action=", 7) == 0)
            st = imrec_minibatch_config_set(c, pair[i], err);
        else if (strchr(pair[i], '=') != NULL)
            st = imrec_minibatch_config_define(c, pair[i], err);
    return st == IMREC_OK ? imrec_minibatch_config_load(c, path, err) : st;
}

/* A file that is not there, unless the name is a list or a pattern. */
static bool is_missing(const char *source, const struct imrec_error *why)
{
    return why->sys_errno == ENOENT && strpbrk(source, ";,*?[{") == NULL;
}

enum imrec_status minibatch_config_read(struct imrec_minibatch_config *c, const char *name,
                                        const char *source, int pairs, char *const *pair,
                                        struct imrec_error *err)
{
    cli_log(name, IMREC_LOG_TRACE); /* which the library has for trace_level=2 only */
    enum imrec_file_kind kind;
    struct imrec_error why;
    enum imrec_status st = imrec_file_kind(source, &kind, NULL, &why);
    if (st != IMREC_OK && is_missing(source, &why)) {
        *err = why;
        snprintf(err->message, sizeof(err->message), "%.400s: there is no such file", source);
        return st;
    }
    st = st == IMREC_OK && is_configuration(source, kind)
             ? minibatch_config_load(c, source, pairs, pair, err)
             : minibatch_config_file(c, source, err);
    for (int i = 0; i < pairs && st == IMREC_OK; i++)
        st = imrec_minibatch_config_set(c, pair[i], err);
    return st;
}
