/* dataset/repair_walk.c - a walk that can continue at any byte.
 *
 * Records are on multiples of 4 from the shard's begin, and a walk looks for heads there alone.
 * After 3 inserted bytes, every record is one byte before such a place: the shard is then walked as
 * one that begins at its byte 3. */
#include "dataset/repair_walk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/recordio/image_record.h"
#include "storage/source.h"

#include <string.h>

#define PIECE_BYTES ((size_t)1 << 20)
#define NO_HEAD     UINT32_MAX
#define PEEK_BYTES  (RECORDIO_PART_HEAD_BYTES + 4) /* a head, and the flag of an image record */

/* ---- the shard from another byte on ------------------------------------------------------- */

static enum imrec_status
moved_read(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    const struct moved_source *m = (const struct moved_source *)s;
    return source_read(m->inner, offset + m->shift, to, n, err);
}

static void moved_will_need(struct source *s, uint64_t offset, uint64_t n)
{
    const struct moved_source *m = (const struct moved_source *)s;
    source_will_need(m->inner, offset + m->shift, n);
}

/* Walks on from `offset`, where a head is or is expected. */
static void walk_from(struct repair_walk *w, uint64_t offset)
{
    static const struct source_ops ops = {.read_at = moved_read, .will_need = moved_will_need};
    const uint64_t shift = offset % RECORDIO_ALIGN;
    const uint64_t size = w->source->size > shift ? w->source->size - shift : 0;
    w->moved = (struct moved_source){{.size = size, .ops = &ops}, w->source, shift};
    scan_begin(&w->scan, &w->moved.source, offset - shift, size, true);
}

/* ---- heads on any byte -------------------------------------------------------------------- */

/* n bytes of the shard; unreadable ones are zeros. */
static enum imrec_status
peek(const struct repair_walk *w, uint64_t offset, uint8_t *to, size_t n, struct imrec_error *err)
{
    struct hole *holes = NULL;
    const enum imrec_status st = unreadable_read(w->source, offset, to, n, &holes, err);
    unreadable_free(&holes);
    return st;
}

/* The part flag of the head at `offset`, or NO_HEAD; at the shard's end 0, as if a record began. */
static enum imrec_status
flag_at(const struct repair_walk *w, uint64_t offset, uint32_t *flag, struct imrec_error *err)
{
    uint8_t head[RECORDIO_PART_HEAD_BYTES];
    *flag = offset == w->source->size ? 0 : NO_HEAD;
    if (w->source->size < sizeof(head) || offset > w->source->size - sizeof(head))
        return IMREC_OK;
    IMREC_TRY(peek(w, offset, head, sizeof(head), err));
    if (load_le32(head) == RECORDIO_MAGIC)
        *flag = load_le32(head + 4) >> 29;
    return IMREC_OK;
}

/* Whether the head at `offset` may be one: only then is it worth a walk. */
static enum imrec_status
is_likely(const struct repair_walk *w, uint64_t offset, bool *yes, struct imrec_error *err)
{
    uint8_t head[PEEK_BYTES] = {0};
    uint32_t next;
    const uint64_t left = w->source->size - offset;
    IMREC_TRY(peek(w, offset, head, left < PEEK_BYTES ? (size_t)left : PEEK_BYTES, err));
    const bool whole = load_le32(head + 4) >> 29 == 0;
    const uint64_t length = load_le32(head + 4) & RECORDIO_PART_MAX_BYTES;
    const uint64_t bytes = RECORDIO_PART_HEAD_BYTES + (length + 3) / 4 * 4;
    const uint64_t labels = load_le32(head + RECORDIO_PART_HEAD_BYTES);
    *yes = false;
    if (bytes > left)
        return IMREC_OK;
    *yes = whole && length >= IMAGE_RECORD_HEADER_BYTES &&
           labels <= (length - IMAGE_RECORD_HEADER_BYTES) / 4;
    if (*yes)
        return IMREC_OK;
    IMREC_TRY(flag_at(w, offset + bytes, &next, err));
    *yes = whole ? next <= 1 : next == 2 || next == 3; /* a part after the first */
    return IMREC_OK;
}

/* The first likely head of p[0..n), bytes of the shard from `at` on; n: there is none. */
static enum imrec_status find_in(const struct repair_walk *w, const uint8_t *p, size_t n,
                                 uint64_t at, size_t *hit, struct imrec_error *err)
{
    static const uint8_t first = RECORDIO_MAGIC & 0xff;
    bool yes = false;
    for (*hit = 0; n - *hit >= RECORDIO_PART_HEAD_BYTES; ++*hit) {
        const uint8_t *found = memchr(p + *hit, first, n - *hit - RECORDIO_PART_HEAD_BYTES + 1);
        if (found == NULL)
            break;
        *hit = (size_t)(found - p);
        if (recordio_sync(found, RECORDIO_PART_HEAD_BYTES) == 0)
            IMREC_TRY(is_likely(w, at + *hit, &yes, err));
        if (yes)
            return IMREC_OK;
    }
    *hit = n;
    return IMREC_OK;
}

/* The first likely head in [from, to), or `to`. */
static enum imrec_status find_head(struct repair_walk *w, uint64_t from, uint64_t to,
                                   uint64_t *head, struct imrec_error *err)
{
    const uint64_t overlap = RECORDIO_PART_HEAD_BYTES - 1, size = w->source->size;
    for (*head = to; from < to; from += PIECE_BYTES - overlap) {
        const uint64_t end = to + overlap < size ? to + overlap : size;
        const size_t n = end - from < PIECE_BYTES ? (size_t)(end - from) : PIECE_BYTES;
        size_t hit;
        IMREC_TRY(peek(w, from, w->piece, n, err));
        IMREC_TRY(find_in(w, w->piece, n, from, &hit, err));
        if (hit < n && from + hit < to) {
            *head = from + hit;
            return IMREC_OK;
        }
    }
    return IMREC_OK;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static struct repair_item damage_of(uint64_t begin, uint64_t end, const struct imrec_error *why)
{
    return (struct repair_item){.step = WALK_DAMAGE, .begin = begin, .end = end, .why = *why};
}

/* A record that nothing follows may have lost bytes, and then has the next head inside. */
static enum imrec_status
look_inside(struct repair_walk *w, struct repair_item *item, struct imrec_error *err)
{
    uint32_t flag;
    uint64_t head = item->begin + recordio_swallowed(item->framed.p, &item->span);
    if (head == item->end) {
        IMREC_TRY(flag_at(w, item->end, &flag, err));
        if (flag <= 1)
            return IMREC_OK;
        IMREC_TRY(find_head(w, item->begin + 1, item->end, &head, err));
        if (head == item->end)
            return IMREC_OK;
    }
    struct imrec_error why;
    (void)imrec_error_at(&why, IMREC_ERR_CORRUPT, item->begin,
                         "the record's length is damaged: another record begins inside it");
    *item = damage_of(item->begin, head, &why);
    walk_from(w, head);
    return IMREC_OK;
}

enum imrec_status
repair_walk_next(struct repair_walk *w, struct repair_item *out, struct imrec_error *err)
{
    struct walk_item found;
    enum walk_step step;
    uint64_t head;
    const uint64_t shift = w->moved.shift;
    IMREC_TRY(scan_next(&w->scan, &step, &found, err));
    *out = (struct repair_item){.step = step};
    if (step == WALK_END)
        return IMREC_OK;
    if (step == WALK_RECORD) {
        out->begin = found.begin + shift;
        out->end = out->begin + found.span.bytes;
        out->span = found.span;
        out->framed = (struct bytes){scan_bytes(&w->scan, &found), found.span.bytes};
        return look_inside(w, out, err);
    }
    *out = damage_of(found.begin + shift, found.end + shift, &found.why);
    IMREC_TRY(find_head(w, out->begin + 1, out->end, &head, err));
    if (head == out->end)
        return IMREC_OK;
    out->end = head; /* it is cut short at a head on any byte */
    walk_from(w, head);
    return IMREC_OK;
}

enum imrec_status
repair_walk_open(const char *shard, struct repair_walk *out, struct imrec_error *err)
{
    *out = (struct repair_walk){0};
    out->piece = imrec_realloc(NULL, PIECE_BYTES, 1);
    if (out->piece == NULL)
        return IMREC_NO_MEMORY(err, "no memory to read %s", shard);
    const enum imrec_status st = source_open(shard, &out->source, err);
    if (st != IMREC_OK)
        repair_walk_close(out);
    else
        walk_from(out, 0);
    return st;
}

void repair_walk_close(struct repair_walk *w)
{
    scan_end(&w->scan);
    source_close(w->source);
    imrec_free(w->piece);
    *w = (struct repair_walk){0};
}
