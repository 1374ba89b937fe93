/* cli/output.c - a file that gets its name only when it is complete. */
#include "cli/output.h"

#include "base/system.h"
#include "cli/memory.h"
#include "cli/show.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool say(const char *name, const char *path)
{
    cli_say(name, "cannot write %s: %s", path, strerror(errno));
    return false;
}

/* A name is durable when its folder is; some file systems cannot sync one. */
static bool sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = cli_realloc(NULL, n + 1, 1);
    memcpy(folder, slash == NULL ? "." : path, n);
    folder[n] = '\0';
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = fd >= 0 && (system_sync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    const int code = errno;
    if (fd >= 0)
        (void)close(fd);
    cli_free(folder);
    errno = code;
    return good;
}

bool cli_output_open(struct cli_output *o, const char *name, const char *path)
{
    const size_t n = strlen(path);
    *o = (struct cli_output){0};
    o->path = cli_realloc(NULL, n + 1, 1);
    o->part = cli_realloc(NULL, n + sizeof(".part"), 1);
    memcpy(o->path, path, n + 1);
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
    if (good && !sync_folder_of(o->path))
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
    if ((unlink(path) == 0 || errno == ENOENT) && sync_folder_of(path))
        return true;
    cli_say(name, "cannot remove %s: %s", path, strerror(errno));
    return false;
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
