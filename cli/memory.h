/* cli/memory.h - memory of a program, which ends where the library would return an error. */
#ifndef IMREC_CLI_MEMORY_H
#define IMREC_CLI_MEMORY_H

#include <stddef.h>

/* count * size bytes, or one line on stderr and exit status 1. NULL begins a block. */
void *cli_realloc(void *p, size_t count, size_t size);
void cli_free(void *p); /* NULL is allowed */

/* "a;b;c" out of n operands. */
char *cli_join(char *const *operands, int n, char separator);
#endif
