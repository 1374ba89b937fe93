/* cli/memory.c - memory of a program, which ends where the library would return an error. */
#include "cli/memory.h"

#include "base/alloc.h"
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

void *cli_realloc(void *p, size_t count, size_t size)
{
    void *q = imrec_realloc(p, count == 0 ? 1 : count, size);
    if (q == NULL) {
        fputs("out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    return q;
}

void cli_free(void *p)
{
    imrec_free(p);
}

char *cli_join(char *const *operands, int n, char separator)
{
    size_t bytes = 1;
    for (int i = 0; i < n; i++)
        bytes += strlen(operands[i]) + 1;
    char *all = cli_realloc(NULL, bytes, 1), *to = all;
    for (int i = 0; i < n; i++) {
        const size_t length = strlen(operands[i]);
        if (i > 0)
            *to++ = separator;
        memcpy(to, operands[i], length);
        to += length;
    }
    *to = '\0';
    return all;
}
