/* tests/support/shared.h - where the vectors and photographs are that the project does not hold. */
#ifndef IMREC_TESTS_SHARED_H
#define IMREC_TESTS_SHARED_H

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

/* Ends the test program as skipped, with a word, where the material is missing. */
static inline void shared_or_skip(void)
{
    if (access(shared_path("vectors/README.md"), R_OK) != 0) {
        printf("skipped: no shared material at %s (set IMREC_SHARED)\n", shared_root());
        exit(77);
    }
}
#endif
