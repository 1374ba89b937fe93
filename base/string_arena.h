/* base/string_arena.h - many short texts in few blocks; they never move, and go all at once. */
#ifndef IMREC_BASE_STRING_ARENA_H
#define IMREC_BASE_STRING_ARENA_H

#include <stddef.h>

struct texts_block;
struct texts {
    struct texts_block *newest;
    char *next;
    size_t left;
};

/* A copy of p[0..n) on a 4-byte boundary; NULL: no memory. p == NULL leaves the bytes undefined. */
void *texts_put(struct texts *a, const void *p, size_t n);
void texts_free(struct texts *a); /* zeroed memory is fine */
#endif
