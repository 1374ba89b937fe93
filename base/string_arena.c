/* base/string_arena.c */
#include "base/string_arena.h"

#include "base/alloc.h"

#include <string.h>

#define BLOCK_BYTES (1u << 20)

struct string_arena_block {
    struct string_arena_block *older;
    char bytes[];
};

static char *new_block(struct string_arena *a, size_t n)
{
    struct string_arena_block *b = imrec_realloc(NULL, 1, sizeof(*b) + n);
    if (b == NULL)
        return NULL;
    b->older = a->newest;
    a->newest = b;
    a->held += sizeof(*b) + n;
    return b->bytes;
}

void *string_arena_put(struct string_arena *a, const void *p, size_t n)
{
    char *to = a->next;
    const size_t used = (n + 3) / 4 * 4;
    if (to == NULL || used > a->left) { /* the rest of the block is given up: texts are short */
        const size_t size = used > BLOCK_BYTES ? used : BLOCK_BYTES;
        if ((to = new_block(a, size)) == NULL)
            return NULL;
        a->left = size;
    }
    a->next = to + used;
    a->left -= used;
    return p != NULL ? memcpy(to, p, n) : to;
}

size_t string_arena_bytes(const struct string_arena *a)
{
    return a->held;
}

void string_arena_free(struct string_arena *a)
{
    while (a->newest != NULL) {
        struct string_arena_block *older = a->newest->older;
        imrec_free(a->newest);
        a->newest = older;
    }
    *a = (struct string_arena){0};
}
