#include "iter/split/holes.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

#define BLOCK_BYTES ((uint64_t)64 << 10)

void holes_join(struct hole **holes, struct hole *more)
{
    while (*holes != NULL)
        holes = &(*holes)->next;
    *holes = more;
}

void holes_free(struct hole **holes)
{
    while (*holes != NULL) {
        struct hole *next = (*holes)->next;
        imrec_free(*holes);
        *holes = next;
    }
}

const struct hole *holes_find(const struct hole *holes, uint64_t begin, uint64_t end)
{
    while (holes != NULL && (holes->end <= begin || holes->begin >= end))
        holes = holes->next;
    return holes;
}

/* Notes that [begin, end) failed: makes the last hole longer, or a new one. */
static enum imrec_status note(struct hole **holes, uint64_t begin, uint64_t end,
                              const struct imrec_error *why, struct imrec_error *err)
{
    struct hole *last = *holes;
    while (last != NULL && last->next != NULL)
        last = last->next;
    if (last != NULL && last->end == begin) {
        last->end = end;
        return IMREC_OK;
    }
    struct hole *h = imrec_zalloc(1, sizeof(*h));
    if (h == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, begin,
                              "no memory to note that a part of a shard cannot be read");
    *h = (struct hole){NULL, begin, end, *why};
    holes_join(holes, h);
    return IMREC_OK;
}

enum imrec_status holes_read(struct source *s, uint64_t offset, uint8_t *to, size_t n,
                             struct hole **holes, struct imrec_error *err)
{
    struct imrec_error why;
    struct hole *mine = NULL;
    enum imrec_status st = IMREC_OK;
    if (source_read(s, offset, to, n, &why) == IMREC_OK)
        return IMREC_OK;
    for (size_t done = 0; st == IMREC_OK && done < n;) {
        const uint64_t at = offset + done, next = (at / BLOCK_BYTES + 1) * BLOCK_BYTES;
        const size_t take = next - at < n - done ? (size_t)(next - at) : n - done;
        if (source_read(s, at, to + done, take, &why) != IMREC_OK) {
            memset(to + done, 0, take);
            st = note(&mine, at, at + take, &why, err);
        }
        done += take;
    }
    holes_join(holes, mine);
    return st;
}
