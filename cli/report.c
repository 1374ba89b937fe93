/* cli/report.c - what a program says besides its results. */
#include "cli/report.h"

#include "base/fnv.h"
#include "cli/options.h"
#include "cli/show.h"
#include "cli/spoken.h"

#include <errno.h>
#include <string.h>

enum { REMEMBERED = 64, SPOKEN_BYTES = 4096 };

/* Whether one of the lines before was the same: a set is opened more than once. Called one at a
 * time. */
static bool was_said(const char *line)
{
    static uint64_t g_said[REMEMBERED];
    static size_t g_next;
    const uint64_t hash = fnv1a(FNV_START, line, strlen(line));
    for (size_t i = 0; i < REMEMBERED; i++)
        if (g_said[i] == hash)
            return true;
    g_said[g_next++ % REMEMBERED] = hash;
    return false;
}

static void log_line(void *user, enum imrec_log_level level, const char *line)
{
    char spoken[SPOKEN_BYTES];
    if (!was_said(line))
        cli_say(user, "%s%s", level == IMREC_LOG_WARNING ? "warning: " : "",
                cli_spoken(line, spoken, sizeof(spoken)));
}

void cli_log(const char *name, enum imrec_log_level level)
{
    union {
        const char *in;
        void *out;
    } user = {.in = name}; /* the callback does not write to it */
    imrec_set_log(log_line, user.out, level);
}

int cli_fail(const char *name, const struct imrec_error *err)
{
    char spoken[SPOKEN_BYTES];
    return cli_say(name, "%s", cli_spoken(err->message, spoken, sizeof(spoken)));
}

int cli_exit(const char *name, int status)
{
    const bool bad = ferror(stdout) != 0;
    errno = 0;
    if (fclose(stdout) == 0 && !bad)
        return status;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", name,
            errno != 0 ? strerror(errno) : "output error");
    return EXIT_FAILED;
}
