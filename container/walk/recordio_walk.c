/* container/walk/recordio_walk.c - a state machine over a view that its owner moves.
 *
 * A length that a flipped bit made huge must not make anybody load half a gigabyte: a record
 * that reaches far beyond the view is believed only once what follows it has been looked at, or
 * once it was searched for a head inside, piece by piece. */
#include "container/walk/recordio_walk.h"

#include "base/error.h"
#include "base/math.h"

#include <inttypes.h>
#include <string.h>

#define HEAD_BYTES RECORDIO_PART_HEAD_BYTES
#define FAR_BYTES  ((uint64_t)1 << 20)

static bool covers(const struct view *v, uint64_t begin, uint64_t end)
{
    return v->begin <= begin && end <= v->end;
}

static const uint8_t *at(const struct view *v, uint64_t offset)
{
    return v->p + (offset - v->begin);
}

static enum walk_step more(struct walk *w, uint64_t keep, uint64_t need)
{
    w->keep = keep;
    w->need = min_u64(need, w->size);
    return WALK_MORE;
}

/* Whether a head is at `offset`, of which the view covers all bytes up to 8. */
static bool is_head(const struct walk *w, const struct view *v, uint64_t offset)
{
    return w->size - offset >= HEAD_BYTES && recordio_sync(at(v, offset), HEAD_BYTES) == 0;
}

/* ---- searching ---------------------------------------------------------------------------- */

enum found { FOUND_HEAD, FOUND_NONE, FOUND_MORE };

/* The first head at or after w->from and below `limit`; w->from is moved there. */
static enum found search(struct walk *w, const struct view *v, uint64_t limit)
{
    const uint64_t stop = min_u64(w->size, limit + 4); /* a head's second word may follow it */
    if (w->from >= limit || w->from + HEAD_BYTES > stop)
        return FOUND_NONE;
    if (covers(v, w->from, w->from + HEAD_BYTES)) {
        const size_t n = (size_t)(min_u64(v->end, stop) - w->from);
        const size_t hit = recordio_sync(at(v, w->from), n);
        if (hit < n) {
            w->from += hit;
            return FOUND_HEAD;
        }
        w->from += (n - HEAD_BYTES) / RECORDIO_ALIGN * RECORDIO_ALIGN + RECORDIO_ALIGN;
    }
    if (w->from >= limit || w->from + HEAD_BYTES > stop)
        return FOUND_NONE;
    /* Mostly the last word before the limit is not the magic, and later bytes do not matter. */
    if (w->from + 4 == limit && covers(v, w->from, limit) &&
        load_le32(at(v, w->from)) != RECORDIO_MAGIC)
        return FOUND_NONE;
    (void)more(w, w->from, w->from + HEAD_BYTES);
    return FOUND_MORE;
}

/* ---- outcomes ----------------------------------------------------------------------------- */

/* Bytes from pos on are damaged, w->why says why: on to the next head. */
static bool damaged(struct walk *w)
{
    w->state = WALK_RESYNC;
    w->from = w->pos + RECORDIO_ALIGN;
    return false; /* it is no answer yet */
}

static enum walk_step give_damage(struct walk *w, uint64_t end, struct walk_item *out)
{
    *out = (struct walk_item){.begin = w->pos, .end = end, .why = w->why};
    w->pos = end;
    w->state = WALK_HEAD;
    return WALK_DAMAGE;
}

static enum walk_step give_record(struct walk *w, struct walk_item *out)
{
    out->begin = w->pos;
    out->end = w->pos + w->span.bytes;
    out->span = w->span;
    w->pos = out->end;
    w->state = WALK_HEAD;
    return WALK_RECORD;
}

/* ---- states: true when *step is an answer ------------------------------------------------- */

/* Asked again, a walk that is over says the same. */
static enum walk_step give_end(struct walk *w)
{
    w->pos = w->size;
    w->end = 0;
    w->state = WALK_HEAD;
    return WALK_END;
}

/* Remembers the first byte of [begin, end) that could not be read. */
static void look_for_hole(struct walk *w, const struct view *v, uint64_t begin, uint64_t end)
{
    const struct hole *h = w->torn ? NULL : unreadable_find(v->holes, begin, end);
    if (h == NULL)
        return;
    w->torn = true;
    w->torn_at = h->begin > begin ? h->begin : begin;
    w->hole_why = h->why;
}

static bool
on_sync(struct walk *w, const struct view *v, enum walk_step *step, struct walk_item *out)
{
    const uint64_t from = w->from;
    const enum found f = search(w, v, w->end);
    const uint64_t upto = f == FOUND_NONE ? w->end : w->from;
    look_for_hole(w, v, from, upto);
    *step = WALK_MORE;
    if (f == FOUND_MORE)
        return true;
    const bool torn = w->torn;
    w->torn = false;
    w->pos = torn ? w->torn_at : upto;
    if (torn)
        w->why = w->hole_why;
    w->state = WALK_HEAD;
    if (torn && f == FOUND_NONE) { /* as damage that was run into: on to the next head */
        w->state = WALK_RESYNC;
        w->from = w->end;
        return false;
    }
    if (torn)
        *step = give_damage(w, upto, out);
    else if (f == FOUND_NONE)
        *step = give_end(w);
    return torn || f == FOUND_NONE;
}

static bool on_head(struct walk *w, const struct view *v, enum walk_step *step)
{
    const uint64_t end = min_u64(w->size, w->pos + HEAD_BYTES);
    if (w->pos >= w->size) {
        *step = WALK_END;
        return true;
    }
    if (!covers(v, w->pos, end)) {
        *step = more(w, w->pos, end);
        return true;
    }
    if (is_head(w, v, w->pos)) {
        w->trusted = false;
        w->state = WALK_MEASURE;
        *step = WALK_END;
        return w->pos >= w->end;
    }
    const struct hole *h = unreadable_find(v->holes, w->pos, end);
    if (h != NULL)
        w->why = h->why;
    else if (end - w->pos < HEAD_BYTES)
        imrec_error_at(&w->why, IMREC_ERR_CORRUPT, w->pos,
                       "%" PRIu64 " bytes at the end are not a record", end - w->pos);
    else if (recordio_measure(at(v, w->pos), HEAD_BYTES, w->pos, &w->span, &w->why) !=
             IMREC_ERR_CORRUPT)
        return false; /* never: it is no head */
    return damaged(w);
}

/* The record at pos needs `bytes` and the view has less. */
static bool
ask_for_record(struct walk *w, const struct view *v, uint64_t bytes, enum walk_step *step)
{
    const uint64_t end = w->pos + bytes;
    if (bytes > w->size - w->pos) {
        imrec_error_at(&w->why, IMREC_ERR_CORRUPT, w->pos,
                       "the record needs %" PRIu64 " bytes or more, the shard ends after %" PRIu64,
                       bytes, w->size - w->pos);
        return damaged(w);
    }
    const bool whole = load_le32(at(v, w->pos) + 4) >> 29 == 0; /* its length is in its head */
    if (whole && !w->trusted && end > v->end && end - v->end > FAR_BYTES) {
        w->span.bytes = (size_t)bytes;
        w->state = WALK_PROBE;
        return false;
    }
    *step = more(w, w->pos, end + HEAD_BYTES);
    return true;
}

/* The record at pos is in the view, also what follows it: rules 3 to 5. */
static bool judge(struct walk *w, const struct view *v, enum walk_step *step, struct walk_item *out)
{
    const uint64_t end = w->pos + w->span.bytes;
    const struct hole *h = unreadable_find(v->holes, w->pos, end);
    if (h != NULL) {
        w->why = h->why;
        return damaged(w);
    }
    if (end < w->size && !is_head(w, v, end)) {
        w->from = w->pos + RECORDIO_ALIGN;
        if (search(w, v, end) == FOUND_HEAD) {
            imrec_error_at(&w->why, IMREC_ERR_CORRUPT, w->pos,
                           "the record of %zu bytes swallows the record at %" PRIu64
                           " and no record follows it",
                           w->span.size, w->from);
            *step = give_damage(w, w->from, out);
            return true;
        }
    }
    *step = give_record(w, out);
    return true;
}

static bool
on_measure(struct walk *w, const struct view *v, enum walk_step *step, struct walk_item *out)
{
    if (!covers(v, w->pos, w->pos + HEAD_BYTES)) { /* back from looking far ahead */
        *step = more(w, w->pos, w->pos + w->span.bytes + HEAD_BYTES);
        return true;
    }
    const size_t n = (size_t)(v->end - w->pos);
    switch (recordio_measure(at(v, w->pos), n, w->pos, &w->span, &w->why)) {
    case IMREC_OK:
        if (!covers(v, w->pos, min_u64(w->size, w->pos + w->span.bytes + HEAD_BYTES)))
            return ask_for_record(w, v, w->span.bytes, step);
        return judge(w, v, step, out);
    case IMREC_END:
        return ask_for_record(w, v, w->span.bytes, step);
    default: {
        const struct hole *h = unreadable_find(v->holes, w->why.offset, w->why.offset + HEAD_BYTES);
        if (h != NULL)
            w->why = h->why;
        return damaged(w);
    }
    }
}

/* The record reaches far beyond the view: look at what follows it before it is loaded. */
static bool on_probe(struct walk *w, const struct view *v, enum walk_step *step)
{
    const uint64_t end = w->pos + w->span.bytes;
    if (end < w->size && !covers(v, end, min_u64(w->size, end + HEAD_BYTES))) {
        *step = more(w, end, end + HEAD_BYTES);
        return true;
    }
    w->trusted = end == w->size || is_head(w, v, end);
    w->state = w->trusted ? WALK_MEASURE : WALK_INSIDE;
    w->from = w->pos + RECORDIO_ALIGN;
    return false;
}

static bool
on_inside(struct walk *w, const struct view *v, enum walk_step *step, struct walk_item *out)
{
    const uint64_t end = w->pos + w->span.bytes;
    switch (search(w, v, end)) {
    case FOUND_HEAD:
        imrec_error_at(&w->why, IMREC_ERR_CORRUPT, w->pos,
                       "the record of %zu bytes or more swallows the record at %" PRIu64
                       " and no record follows it",
                       w->span.bytes, w->from);
        *step = give_damage(w, w->from, out);
        return true;
    case FOUND_NONE:
        w->trusted = true;
        w->state = WALK_MEASURE;
        return false;
    default:
        *step = WALK_MORE;
        return true;
    }
}

static bool
on_resync(struct walk *w, const struct view *v, enum walk_step *step, struct walk_item *out)
{
    const uint64_t from = w->from - RECORDIO_ALIGN; /* the word where it began, too */
    const enum found f = search(w, v, w->size);
    const uint64_t upto = f == FOUND_NONE ? w->size : w->from;
    look_for_hole(w, v, from > w->end ? from : w->end, upto);
    *step = WALK_MORE;
    if (w->torn) { /* what follows is for other cells to report */
        const bool some = w->torn_at > w->pos;
        if (some)
            *step = give_damage(w, w->torn_at, out);
        const enum walk_step end = give_end(w);
        *step = some ? *step : end;
    } else if (f != FOUND_MORE) {
        *step = give_damage(w, upto, out);
    }
    return true;
}

static inline bool
on_state(struct walk *w, const struct view *v, enum walk_step *step, struct walk_item *out)
{
    switch (w->state) {
    case WALK_SYNC:
        return on_sync(w, v, step, out);
    case WALK_MEASURE:
        return on_measure(w, v, step, out);
    case WALK_HEAD:
        return on_head(w, v, step);
    case WALK_PROBE:
        return on_probe(w, v, step);
    case WALK_INSIDE:
        return on_inside(w, v, step, out);
    default:
        return on_resync(w, v, step, out);
    }
}

/* ---- public ------------------------------------------------------------------------------- */

void walk_begin(struct walk *w, uint64_t size, uint64_t begin, uint64_t end, bool at_head)
{
    memset(w, 0, offsetof(struct walk, why)); /* cells are many, and seldom anything is wrong */
    w->size = size;
    w->begin = w->pos = w->from = begin;
    w->end = end;
    w->state = at_head ? WALK_HEAD : WALK_SYNC;
}

enum walk_step walk_next(struct walk *w, const struct view *v, struct walk_item *out)
{
    enum walk_step step;
    while (!on_state(w, v, &step, out)) {
    }
    return step;
}
