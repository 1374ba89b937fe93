/* tests/support/shared.h - where the vectors and photographs are that the project does not hold. */
#ifndef IMREC_TESTS_SHARED_H
#define IMREC_TESTS_SHARED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Folder of the shared material: $IMREC_SHARED, else ../shared beside the project. */
static inline const char *shared_root(void)
{
    const char *given = getenv("IMREC_SHARED");
    return given != NULL && given[0] != '\0' ? given : IMREC_SOURCE_DIR "/../shared";
}

/* The path of `relative` in it, in a static buffer of 4 that take turns. */
static inline const char *shared_path(const char *relative)
{
    static char paths[4][4096];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", shared_root(), relative);
    return path;
}

/* Whether the material is here; says so where it is missing. For CASE(.begin = shared_is_here). */
static inline bool shared_is_here(void)
{
    if (access(shared_path("vectors/README.md"), R_OK) == 0)
        return true;
    printf("skipped: no shared material at %s (set IMREC_SHARED)\n", shared_root());
    return false;
}
#endif
