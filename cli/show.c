/* cli/show.c - text out of files on its way to a terminal. */
#include "cli/show.h"

#include "base/shown.h"
#include "cli/memory.h"
#include "cli/options.h"

#include <stdarg.h>
#include <string.h>

enum { KEPT = 8 };

const char *cli_show(const char *text)
{
    static char *kept[KEPT];
    static unsigned next;
    if (shown_as_is(text))
        return text;
    char **to = &kept[next++ % KEPT];
    const size_t room = (SHOWN_BYTES - 1) * strlen(text) + 1;
    *to = cli_realloc(*to, room, 1);
    shown_copy(*to, room, text);
    return *to;
}

int cli_say(const char *name, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    char *said = cli_realloc(NULL, (size_t)(n > 0 ? n : 0) + 1, 1);
    said[0] = '\0';
    (void)vsnprintf(said, (size_t)(n > 0 ? n : 0) + 1, fmt, again);
    fprintf(stderr, "%s: %s\n", name, cli_show(said));
    va_end(again);
    va_end(ap);
    cli_free(said);
    return EXIT_FAILED;
}
