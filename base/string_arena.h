/* base/string_arena.h - many short texts in few blocks; they never move, and go all at once. */
#ifndef IMREC_BASE_STRING_ARENA_H
#define IMREC_BASE_STRING_ARENA_H

#include <stddef.h>

struct string_arena_block;
struct string_arena {
    struct string_arena_block *newest;
    char *next;
    size_t left, held;
};

/* A copy of p[0..n) on a 4-byte boundary; NULL: no memory. p == NULL leaves the bytes undefined. */
void *string_arena_put(struct string_arena *a, const void *p, size_t n);
size_t string_arena_bytes(const struct string_arena *a); /* of its blocks */
void string_arena_free(struct string_arena *a);          /* zeroed memory is fine */
#endif
