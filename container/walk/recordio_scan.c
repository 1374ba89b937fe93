/* container/walk/recordio_scan.c - a walk through a byte range of a shard in large reads. */
#include "container/walk/recordio_scan.h"

#include "base/error.h"
#include "base/math.h"
#include "base/pages.h"

#include <inttypes.h>
#include <string.h>

#define BUFFER_BYTES ((uint64_t)1 << 20)  /* stays in the cache; the system reads ahead of it */
#define AHEAD_BYTES  ((uint64_t)16 << 20) /* read-ahead that the system is asked for, at a time */
#define SEARCH_BYTES ((uint64_t)1 << 20)  /* read at once after the end, to find a head */

/* Drops holes that lie before `keep`. */
static void forget_holes(struct scan *s, uint64_t keep)
{
    for (struct hole **at = &s->holes; *at != NULL;) {
        struct hole *h = *at;
        if (h->end > keep) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        h->next = NULL;
        unreadable_free(&h);
    }
}

/* Moves what is kept to the front of a buffer that holds `bytes`. */
static enum imrec_status
make_room(struct scan *s, uint64_t keep, uint64_t bytes, struct imrec_error *err)
{
    const bool kept = keep >= s->view.begin && keep < s->view.end; /* else there may be no buffer */
    const size_t have = kept ? (size_t)(s->view.end - keep) : 0;
    const uint8_t *from = kept ? s->view.p + (keep - s->view.begin) : NULL;
    if (bytes <= s->capacity) {
        if (have != 0)
            memmove(s->buffer, from, have);
    } else {
        uint8_t *grown = pages_alloc((size_t)bytes);
        if (grown == NULL)
            return imrec_error_at(err, IMREC_ERR_NO_MEMORY, keep,
                                  "no memory to read %" PRIu64 " bytes of a shard at once", bytes);
        if (have != 0)
            memcpy(grown, from, have);
        pages_free(s->buffer, s->capacity);
        s->buffer = grown;
        s->capacity = (size_t)bytes;
    }
    s->view = (struct view){s->buffer, keep, keep + have, NULL};
    return IMREC_OK;
}

static enum imrec_status fill(struct scan *s, struct imrec_error *err)
{
    const struct walk *w = &s->walk;
    if (s->limit != 0 && w->need - w->keep > s->limit)
        return imrec_error_at(err, IMREC_ERR_LIMIT, w->keep,
                              "the record needs %" PRIu64 " bytes or more, the limit is %" PRIu64,
                              w->need - w->keep, s->limit);
    uint64_t target = min_u64(w->keep + BUFFER_BYTES, w->end + SEARCH_BYTES / 8);
    target = max_u64(target, min_u64(w->need + SEARCH_BYTES / 8, w->keep + BUFFER_BYTES));
    if (w->need > w->keep + BUFFER_BYTES) /* a giant of many parts is not measured part by part */
        target = w->need + (w->need - w->keep) / 2;
    if (w->keep >= w->end)
        target = max_u64(target, w->keep + SEARCH_BYTES);
    target = min_u64(max_u64(target, w->need), w->size);
    IMREC_TRY(make_room(s, w->keep, target - w->keep, err));
    forget_holes(s, w->keep);

    const uint64_t from = s->view.end;
    if (target > from)
        IMREC_TRY(unreadable_read(s->source, from, s->buffer + (from - w->keep),
                                  (size_t)(target - from), &s->holes, err));
    s->view.end = max_u64(target, from);
    s->view.holes = s->holes;
    if (target < w->end && target + AHEAD_BYTES / 2 > s->advised) {
        const uint64_t begin = max_u64(target, s->advised);
        s->advised = min_u64(w->end, begin + AHEAD_BYTES);
        source_will_need(s->source, begin, s->advised - begin);
    }
    return IMREC_OK;
}

void scan_begin(struct scan *s, struct source *source, uint64_t begin, uint64_t end, bool at_head)
{
    s->source = source;
    s->advised = 0;
    unreadable_free(&s->holes);
    s->view = (struct view){.p = s->buffer, .begin = begin, .end = begin};
    walk_begin(&s->walk, source->size, begin, end, at_head);
}

enum imrec_status
scan_next(struct scan *s, enum walk_step *step, struct walk_item *item, struct imrec_error *err)
{
    while ((*step = walk_next(&s->walk, &s->view, item)) == WALK_MORE)
        IMREC_TRY(fill(s, err));
    return IMREC_OK;
}

uint8_t *scan_bytes(const struct scan *s, const struct walk_item *item)
{
    return s->buffer + (item->begin - s->view.begin);
}

void scan_end(struct scan *s)
{
    unreadable_free(&s->holes);
    pages_free(s->buffer, s->capacity);
    *s = (struct scan){0};
}
