/* split/split_text.c - chunks of lines: loaded with the rest of their last line, cut at line ends.
 *
 * Bytes that cannot be read are zeros here, so they are in a line that is damaged, whoever reads it
 * and however it is cut. */
#include "split/split_text.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>

#define TAIL_BYTES                                                                                 \
    ((uint64_t)64 << 10) /* read at once after the cell: mostly its last line's end */

static bool is_end(uint8_t c)
{
    return c == '\n' || c == '\r';
}

/* ---- loading ------------------------------------------------------------------------------ */

/* Reads on to byte `end` of the file; a byte more is there for a NUL. */
static enum imrec_status
read_to(struct split_chunk *c, struct source *source, uint64_t end, struct imrec_error *err)
{
    const uint64_t n = end - c->base;
    if (n >= SIZE_MAX || !IMREC_GROW(c->p, c->room, n + 1))
        return IMREC_NO_MEMORY(err, "no memory for a chunk of %" PRIu64 " bytes", n);
    IMREC_TRY(
        unreadable_read(source, c->base + c->n, c->p + c->n, (size_t)n - c->n, &c->holes, err));
    c->n = (size_t)n;
    return IMREC_OK;
}

/* Where the next chunk begins is found by the same rule as there. Reads until it is known, as far
 * as a line may reach. */
static enum imrec_status find_stop(struct split_chunk *c, const struct split_set *s,
                                   uint64_t cell_end, struct imrec_error *err)
{
    struct source *source = s->files.shards[c->file].source;
    const uint64_t most = min_u64(source->size, cell_end + s->o.max_record_bytes + 1);
    enum text_sync_state state = TEXT_SYNC_LINE;
    c->stop = (size_t)(cell_end - c->base);
    for (;;) {
        c->stop += text_sync(c->p + c->stop, c->n - c->stop, &state);
        const uint64_t end = c->base + c->n;
        if (state == TEXT_SYNC_DONE || end >= most)
            return IMREC_OK;
        IMREC_TRY(read_to(c, source, min_u64(most, end + (end - cell_end)), err));
    }
}

enum imrec_status split_text_load(struct split_chunk *c, const struct split_set *s,
                                  struct unit_range cell, struct imrec_error *err)
{
    struct source *source = s->files.shards[cell.shard].source;
    enum text_sync_state state = TEXT_SYNC_LINE;
    unreadable_free(&c->holes);
    c->file = cell.shard;
    c->base = cell.begin;
    c->n = c->begin = c->stop = c->lf = 0;
    IMREC_TRY(read_to(c, source, min_u64(source->size, cell.end + TAIL_BYTES), err));
    if (cell.begin != 0)
        c->begin = text_sync(c->p, c->n, &state);
    if (c->begin > cell.end - cell.begin) { /* no line begins here */
        c->begin = 0;
        return IMREC_OK;
    }
    return find_stop(c, s, cell.end, err);
}

/* ---- lines -------------------------------------------------------------------------------- */

struct line {
    size_t end, next; /* of its text; where the next one begins */
};

/* The end of the line at p[at], or n. */
static size_t end_of(struct split_chunk *c, size_t at)
{
    if (c->lf < at || c->lf == 0) { /* found once for many lines that CR ends */
        const uint8_t *lf = memchr(c->p + at, '\n', c->n - at);
        c->lf = lf != NULL ? (size_t)(lf - c->p) : c->n;
    }
    const uint8_t *cr = memchr(c->p + at, '\r', c->lf - at);
    return cr != NULL ? (size_t)(cr - c->p) : c->lf;
}

static enum imrec_status line_error(const struct split_chunk *c, const struct split_set *s,
                                    const struct line *l, const struct hole *h,
                                    struct imrec_error *err)
{
    const uint64_t begin = c->base + c->next, end = c->base + l->end;
    struct imrec_error why;
    if (h != NULL)
        return split_set_damage(s, c->file, begin, end, "are a line that cannot be read", &h->why,
                                err);
    imrec_fail(&why, IMREC_ERR_LIMIT, "max_record_bytes is %" PRIu64, s->o.max_record_bytes);
    return split_set_damage(s, c->file, begin, end, "are a line that is too long", &why, err);
}

/* The line at c->next, of which there is enough to see that it is too long. IMREC_ERR_DATA: it is
 * damaged, *l is where it ends all the same. */
static enum imrec_status
look(struct split_chunk *c, const struct split_set *s, struct line *l, struct imrec_error *err)
{
    const size_t at = c->next;
    l->end = l->next = end_of(c, at);
    while (l->next < c->stop && is_end(c->p[l->next]))
        l->next++;
    const struct hole *h =
        c->holes == NULL ? NULL : unreadable_find(c->holes, c->base + at, c->base + l->end);
    if (h == NULL && l->end - at <= s->o.max_record_bytes)
        return IMREC_OK;
    return line_error(c, s, l, h, err);
}

static void give(const struct split_chunk *c, const struct split_set *s, size_t begin, size_t end,
                 struct imrec_split_bytes *out)
{
    *out = (struct imrec_split_bytes){.data = c->p + begin,
                                      .size = end - begin,
                                      .uri = s->files.shards[c->file].uri,
                                      .file = c->file,
                                      .offset = c->base + begin};
}

enum imrec_status split_text_next(struct split_chunk *c, const struct split_set *s,
                                  struct imrec_split_bytes *out, struct imrec_error *err)
{
    struct line l;
    if (c->next >= c->stop)
        return IMREC_END;
    const size_t at = c->next;
    const enum imrec_status st = look(c, s, &l, err);
    c->next = l.next;
    if (st != IMREC_OK)
        return st;
    c->p[l.end] = '\0'; /* its end, or the byte after all */
    give(c, s, at, l.end, out);
    return IMREC_OK;
}

enum imrec_status split_text_rest(struct split_chunk *c, const struct split_set *s,
                                  struct imrec_split_bytes *out, struct imrec_error *err)
{
    const size_t begin = c->next;
    struct line l;
    while (c->next < c->stop) {
        const enum imrec_status st = look(c, s, &l, err);
        if (st != IMREC_OK && c->next > begin)
            break; /* it is the next call's */
        c->next = l.next;
        if (st != IMREC_OK)
            return st;
    }
    give(c, s, begin, c->next, out);
    return c->next > begin ? IMREC_OK : IMREC_END;
}

bool split_text_is_begin(const struct split_chunk *c, uint64_t at)
{
    if (at < c->begin || at > c->stop)
        return false;
    return at == c->begin || at == c->stop || (is_end(c->p[at - 1]) && !is_end(c->p[at]));
}
