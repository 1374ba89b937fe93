/* container/walk/unreadable.c - reading bytes of a shard of which some cannot be read. */
#include "container/walk/unreadable.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

#define FAR_BYTES  ((uint64_t)2 << 20) /* of a request to another machine */
#define PAGE_BYTES ((uint64_t)4096)    /* what a system reads or fails to read */

void unreadable_join(struct hole **holes, struct hole *more)
{
    while (*holes != NULL)
        holes = &(*holes)->next;
    *holes = more;
}

void unreadable_free(struct hole **holes)
{
    while (*holes != NULL) {
        struct hole *next = (*holes)->next;
        imrec_free(*holes);
        *holes = next;
    }
}

const struct hole *unreadable_find(const struct hole *holes, uint64_t begin, uint64_t end)
{
    const struct hole *first = NULL;
    for (const struct hole *h = holes; h != NULL; h = h->next)
        if (h->end > begin && h->begin < end && (first == NULL || h->begin < first->begin))
            first = h;
    return first;
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
    unreadable_join(holes, h);
    return IMREC_OK;
}

/* The first byte that could not be read, if the source reports it. */
static uint64_t failed_at(const struct imrec_error *why, uint64_t begin, uint64_t end)
{
    return why->offset >= begin && why->offset < end ? why->offset : begin;
}

/* Of another machine: what failed was tried again, and reading on page by page would wait as often.
 * The request's bytes are a hole; after the second failure the rest is. Parts are under way at
 * once, so those before the one that failed may not be there yet. */
static enum imrec_status read_far(struct source *s, uint64_t offset, uint8_t *to, size_t n,
                                  struct hole **holes, struct imrec_error *err)
{
    const uint64_t end = offset + n;
    uint64_t most = FAR_BYTES;
    for (uint64_t at = offset; at < end; most = n) {
        struct imrec_error why = {.offset = IMREC_NO_OFFSET};
        enum imrec_status st = source_read(s, at, to + (at - offset), (size_t)(end - at), &why);
        if (st == IMREC_OK)
            return IMREC_OK;
        uint64_t bad = failed_at(&why, at, end);
        if (bad > at &&
            source_read(s, at, to + (at - offset), (size_t)(bad - at), &why) != IMREC_OK)
            bad = at;
        if (why.status == IMREC_ERR_CANCELLED || why.status == IMREC_ERR_NO_MEMORY) {
            if (err != NULL)
                *err = why;
            return why.status;
        }
        at = end - bad < most ? end : bad + most;
        memset(to + (bad - offset), 0, (size_t)(at - bad));
        IMREC_TRY(note(holes, bad, at, &why, err));
    }
    return IMREC_OK;
}

/* Of this machine: page by page. */
static enum imrec_status read_near(struct source *s, uint64_t offset, uint8_t *to, size_t n,
                                   struct hole **holes, struct imrec_error *err)
{
    const uint64_t end = offset + n;
    enum imrec_status st = IMREC_OK;
    for (uint64_t at = offset, tried = UINT64_MAX; st == IMREC_OK && at < end;) {
        struct imrec_error why = {.offset = IMREC_NO_OFFSET};
        if (source_read(s, at, to + (at - offset), (size_t)(end - at), &why) == IMREC_OK)
            break;
        const uint64_t bad = failed_at(&why, at, end), next = (bad / PAGE_BYTES + 1) * PAGE_BYTES;
        if (bad != tried) { /* it may have been for once */
            tried = bad;
            if (source_read(s, bad, to + (bad - offset), 1, NULL) == IMREC_OK) {
                at = bad;
                continue;
            }
        }
        const uint64_t last = next < end ? next : end;
        memset(to + (bad - offset), 0, (size_t)(last - bad));
        st = note(holes, bad, last, &why, err);
        at = last;
    }
    return st;
}

enum imrec_status unreadable_read(struct source *s, uint64_t offset, uint8_t *to, size_t n,
                                  struct hole **holes, struct imrec_error *err)
{
    struct hole *mine = NULL;
    const enum imrec_status st =
        (s->at_once != 0 ? read_far : read_near)(s, offset, to, n, &mine, err);
    unreadable_join(holes, mine);
    return st;
}
