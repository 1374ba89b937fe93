/* cli/output.c - a file that gets its name only when it is complete. */
#include "cli/output.h"

#include "base/system.h"
#include "cli/memory.h"
#include "cli/show.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool say(const char *name, const char *path)
{
    cli_say(name, "cannot write %s: %s", path, strerror(errno));
    return false;
}

static char *copy_of(const char *path)
{
    const size_t n = strlen(path) + 1;
    return memcpy(cli_realloc(NULL, n, 1), path, n);
}

bool cli_output_open(struct cli_output *o, const char *name, const char *path)
{
    const size_t n = strlen(path);
    *o = (struct cli_output){0};
    o->path = copy_of(path);
    o->part = cli_realloc(NULL, n + sizeof(".part"), 1);
    memcpy(o->part, path, n);
    memcpy(o->part + n, ".part", sizeof(".part"));
    o->file = fopen(o->part, "w");
    if (o->file != NULL)
        return true;
    (void)say(name, o->part);
    cli_output_abort(o);
    return false;
}

bool cli_output_commit(struct cli_output *o, const char *name)
{
    FILE *f = o->file;
    bool good = fflush(f) == 0 && ferror(f) == 0 && system_sync(fileno(f)) == 0;
    o->file = NULL;
    good = fclose(f) == 0 && good && rename(o->part, o->path) == 0;
    if (good && system_sync_folder_of(o->path, NULL, NULL) != 0)
        good = say(name, o->path); /* whole, under its name, and not for sure on the disk */
    else if (!good) {
        (void)say(name, o->path);
        (void)unlink(o->part);
    }
    cli_output_abort(o);
    return good;
}

bool cli_output_remove_first(const char *name, const char *path)
{
    char *copy = copy_of(path);
    const bool gone =
        (unlink(path) == 0 || errno == ENOENT) && system_sync_folder_of(copy, NULL, NULL) == 0;
    if (!gone)
        cli_say(name, "cannot remove %s: %s", path, strerror(errno));
    cli_free(copy);
    return gone;
}

void cli_output_abort(struct cli_output *o)
{
    if (o->file != NULL) {
        (void)fclose(o->file);
        (void)unlink(o->part);
    }
    cli_free(o->path);
    cli_free(o->part);
    *o = (struct cli_output){0};
}
