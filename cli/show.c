/* cli/show.c - text out of files on its way to a terminal. */
#include "cli/show.h"

#include "base/shown.h"
#include "cli/memory.h"
#include "cli/options.h"

#include <stdarg.h>
#include <string.h>

enum { KEPT = 8 };

/* Room for a text that lives until the 8th call after it. */
static char *room_for(size_t bytes)
{
    static char *kept[KEPT];
    static unsigned next;
    char **to = &kept[next++ % KEPT];
    return *to = cli_realloc(*to, bytes, 1);
}

const char *cli_uri(const char *uri)
{
    if (strstr(uri, "://") == NULL)
        return uri;
    const size_t bytes = strlen(uri) + 1;
    char *to = room_for(bytes);
    memcpy(to, uri, bytes);
    shown_hide_secrets(to);
    return to;
}

const char *cli_show(const char *text)
{
    text = cli_uri(text);
    if (shown_as_is(text))
        return text;
    const size_t room = (SHOWN_BYTES - 1) * strlen(text) + 1;
    char *to = room_for(room);
    shown_copy(to, room, text);
    return to;
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
