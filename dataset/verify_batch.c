/* dataset/verify_batch.c - what was met between two barriers of a verification, in file order. */
#include "dataset/verify_batch.h"

#include "base/alloc.h"

#define FULL_ITEMS  256
#define FULL_BYTES  ((size_t)1 << 20)
#define ARENA_BYTES ((size_t)3 << 19) /* room for the last record, too */
#define KEPT_BYTES  ((size_t)4 << 20)

struct verify_item *verify_batch_add(struct verify_batch *b)
{
    if (!IMREC_GROW(b->item, b->room, b->count + 1))
        return NULL;
    b->item[b->count] = (struct verify_item){0};
    return &b->item[b->count++];
}

bool verify_batch_room(struct verify_batch *b, size_t n, size_t *at)
{
    size_t need;
    if (!sum_fits(b->used, n, &need))
        return false;
    if (need > b->capacity &&
        !IMREC_GROW(b->arena, b->capacity, need < ARENA_BYTES ? ARENA_BYTES : need))
        return false;
    *at = b->used;
    b->used = need;
    return true;
}

bool verify_batch_full(const struct verify_batch *b)
{
    return b->count >= FULL_ITEMS || b->used >= FULL_BYTES;
}

void verify_batch_clear(struct verify_batch *b)
{
    b->count = 0;
    b->used = 0;
    if (b->capacity > KEPT_BYTES || b->room > FULL_ITEMS)
        verify_batch_free(b);
}

void verify_batch_free(struct verify_batch *b)
{
    IMREC_FREE(b->item, b->arena);
    *b = (struct verify_batch){0};
}
