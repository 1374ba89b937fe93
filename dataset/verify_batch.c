/* dataset/verify_batch.c - what was met between two barriers of a verification, in file order. */
#include "dataset/verify_batch.h"

#include "base/alloc.h"

#define FULL_ITEMS  256
#define FULL_BYTES  ((size_t)1 << 20)
#define ARENA_BYTES ((size_t)3 << 19) /* room for the last record, too */
#define KEPT_BYTES  ((size_t)4 << 20)

struct verify_item *verify_batch_add(struct verify_batch *b)
{
    if (b->count == b->room) {
        const size_t more = b->room == 0 ? FULL_ITEMS : 2 * b->room;
        void *p = imrec_realloc(b->item, more, sizeof(*b->item));
        if (p == NULL)
            return NULL;
        b->item = p;
        b->room = more;
    }
    b->item[b->count] = (struct verify_item){0};
    return &b->item[b->count++];
}

bool verify_batch_room(struct verify_batch *b, size_t n, size_t *at)
{
    size_t need;
    if (!sum_fits(b->used, n, &need))
        return false;
    if (need > b->capacity) {
        const size_t more = need < ARENA_BYTES ? ARENA_BYTES : need + need / 2;
        void *p = imrec_realloc(b->arena, more, 1);
        if (p == NULL)
            return false;
        b->arena = p;
        b->capacity = more;
    }
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
    imrec_free(b->item);
    imrec_free(b->arena);
    *b = (struct verify_batch){0};
}
