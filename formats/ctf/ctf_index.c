/*
 * formats/ctf/ctf_index.c - where the sequences of a text are, and how long.
 *
 * The first byte of a line decides most: a digit begins an id, a pipe a sample. Only lines that
 * begin with a comment are walked, and all lines where a stream defines the size.
 * Ids usually ascend, and then are unique. After the first one that does not, all ids are in a
 * hash table.
 */
#include "formats/ctf/ctf_index.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/ctf/ctf_fast.h"
#include "formats/ctf/ctf_ids.h"

#include <inttypes.h>
#include <string.h>

struct ctf_indexer {
    struct ctf_index_options o;
    size_t main_bytes; /* of its alias */
    struct ctf_index index;
    struct ctf_ids ids;
    uint64_t at, line; /* of the next line: its offset, its number from 0 */
    bool begun;        /* the first line that counts has been seen, */
    bool numbered;     /* and had an id */
    bool open;         /* a sequence is being read */
    struct ctf_sequence now;
    uint64_t now_line;
};

static enum imrec_status no_memory(const struct ctf_indexer *x, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory for the index of %" PRIu64 " sequences", x->o.name,
                           x->index.sequences);
}

/* ---- sequences and chunks ---------------------------------------------------------------- */

static enum imrec_status add_to_chunk(struct ctf_indexer *x, struct imrec_error *err)
{
    struct ctf_index *i = &x->index;
    const struct ctf_sequence *s = &x->now;
    struct ctf_chunk *c = i->chunks > 0 ? &i->chunk[i->chunks - 1] : NULL;
    if (c == NULL || s->offset + s->bytes - c->offset > x->o.chunk_bytes ||
        c->sequences == UINT32_MAX) {
        if (!IMREC_GROW(i->chunk, i->chunk_room, i->chunks + 1))
            return no_memory(x, err);
        c = &i->chunk[i->chunks++];
        *c =
            (struct ctf_chunk){.first = i->sequences, .offset = s->offset, .line = x->now_line + 1};
    }
    c->sequences++;
    c->bytes = s->offset + s->bytes - c->offset;
    c->samples += s->length;
    return IMREC_OK;
}

/* The sequence being read is over at `end`. */
static enum imrec_status
close_sequence(struct ctf_indexer *x, uint64_t end, struct imrec_error *err)
{
    struct ctf_index *i = &x->index;
    if (!x->open)
        return IMREC_OK;
    x->open = false;
    if (end - x->now.offset > UINT32_MAX)
        return imrec_error_at(err, IMREC_ERR_LIMIT, x->now.offset,
                              "%s: line %" PRIu64 ": a sequence of %" PRIu64
                              " bytes; at most 4 GiB fit",
                              x->o.name, x->now_line + 1, end - x->now.offset);
    x->now.bytes = (uint32_t)(end - x->now.offset);
    IMREC_TRY(add_to_chunk(x, err));
    if (!IMREC_GROW(i->sequence, i->sequence_room, i->sequences + 1))
        return no_memory(x, err);
    i->sequence[i->sequences++] = x->now;
    i->samples += x->now.length;
    return IMREC_OK;
}

/* ---- lines ------------------------------------------------------------------------------- */

struct line {
    const uint8_t *p, *end; /* without its end */
    bool has_id, blank;     /* blank: neither id nor anything else */
    uint64_t id;
    bool counts; /* it has a sample, or something that is no comment */
    uint32_t main_samples;
};

static bool is_main(const struct ctf_indexer *x, const uint8_t *name, const uint8_t *end)
{
    const size_t n = x->main_bytes;
    return (size_t)(end - name) >= n && memcmp(name, x->o.main_alias, n) == 0 &&
           (name + n == end || text_is_blank(name[n]) || name[n] == '|' || name[n] == '\r');
}

/* Whether a sample with this name counts. What is not a name counts too: the parser reports it. */
static bool is_known(const struct ctf_indexer *x, const uint8_t *name, const uint8_t *end)
{
    const size_t n = (size_t)(ctf_behind_name(name, end) - name);
    bool known = x->o.known == NULL || n == 0;
    for (uint32_t i = 0; !known && i < x->o.known_streams; i++)
        known = strlen(x->o.known[i].alias) == n && memcmp(x->o.known[i].alias, name, n) == 0;
    return known;
}

/* What follows the id: comments do not count, anything else does. */
static void look_at_samples(const struct ctf_indexer *x, const uint8_t *p, struct line *l)
{
    while (p < l->end) {
        if (text_is_blank(*p)) {
            p++;
        } else if (*p == '|' && p + 1 < l->end && p[1] == '#') {
            p = ctf_behind_comment(p, l->end);
        } else {
            l->counts |= *p != '|' || is_known(x, p + 1, l->end);
            if (l->counts && x->o.main_alias == NULL)
                return;
            l->main_samples += x->o.main_alias != NULL && *p == '|' && is_main(x, p + 1, l->end);
            p = ctf_next_pipe(p + 1, l->end);
        }
    }
}

static enum imrec_status
read_id(struct ctf_indexer *x, const uint8_t **p, struct line *l, struct imrec_error *err)
{
    const uint8_t *begin = *p, *at = *p;
    uint64_t id = 0;
    for (; at < l->end && text_is_digit(*at); at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (id > (UINT64_MAX - digit) / 10)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, x->at + (uint64_t)(begin - l->p),
                                  "%s: line %" PRIu64 ", column %" PRIu64
                                  ": a sequence id above 18446744073709551615",
                                  x->o.name, x->line + 1, (uint64_t)(begin - l->p) + 1);
        id = 10 * id + digit;
    }
    l->has_id = at > begin;
    l->id = id;
    *p = at;
    return IMREC_OK;
}

static enum imrec_status
look_at_line(struct ctf_indexer *x, struct line *l, struct imrec_error *err)
{
    const uint8_t *p = l->p;
    while (p < l->end && text_is_blank(*p))
        p++;
    IMREC_TRY(read_id(x, &p, l, err));
    while (p < l->end && text_is_blank(*p))
        p++;
    l->blank = !l->has_id && p == l->end;
    if (p == l->end)
        l->counts = l->has_id; /* an id alone is an error, which the parser reports */
    else
        look_at_samples(x, p, l);
    return IMREC_OK;
}

static enum imrec_status
begin_sequence(struct ctf_indexer *x, const struct line *l, bool by_id, struct imrec_error *err)
{
    uint64_t before;
    const uint64_t key = by_id ? l->id : x->line;
    if (by_id && ctf_ids_find(&x->ids, x->index.sequence, x->index.sequences, key, &before))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, x->at,
                              "%s: line %" PRIu64 ", column 1: sequence id %" PRIu64
                              " again, which byte %" PRIu64
                              " has already; an id may be repeated on consecutive lines only",
                              x->o.name, x->line + 1, key, before);
    x->now = (struct ctf_sequence){.key = key, .offset = x->at};
    x->now_line = x->line;
    x->open = true;
    if (by_id && !ctf_ids_add(&x->ids, x->index.sequence, x->index.sequences, key))
        return no_memory(x, err);
    return IMREC_OK;
}

static enum imrec_status
take_line(struct ctf_indexer *x, const struct line *l, struct imrec_error *err)
{
    if (!l->counts)
        return IMREC_OK; /* blank, or comments alone, with an id or without */
    if (!x->begun) {
        x->begun = true;
        x->numbered = l->has_id && !x->o.skip_sequence_ids;
    }
    const bool begins = !x->numbered || !x->open || (l->has_id && l->id != x->now.key);
    if (begins) {
        IMREC_TRY(close_sequence(x, x->at, err));
        IMREC_TRY(begin_sequence(x, l, x->numbered, err));
    }
    const uint32_t more = x->o.main_alias != NULL ? l->main_samples : 1;
    if (__builtin_add_overflow(x->now.length, more, &x->now.length))
        return imrec_error_at(err, IMREC_ERR_LIMIT, x->at,
                              "%s: line %" PRIu64 ": a sequence of more than 4294967295 samples",
                              x->o.name, x->line + 1);
    return IMREC_OK;
}

/* ---- plain lines ------------------------------------------------------------------------- */

/* The next line end at or after p. Most lines are short: a call for each costs more than looking
 * at a few words. */
static inline const uint8_t *line_end(const uint8_t *p, const uint8_t *end)
{
    for (int i = 0; i < 4 && end - p >= 8; i++, p += 8) {
        const uint64_t w = load_le64(p) ^ 0x0a0a0a0a0a0a0a0au;
        const uint64_t zero = (w - 0x0101010101010101u) & ~w & 0x8080808080808080u;
        if (zero != 0)
            return p + __builtin_ctzll(zero) / 8;
    }
    return p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
}

/* A line that begins with at most 19 digits, a blank or none, and a sample: *p moves to the
 * sample. */
static inline bool
is_plain(const struct ctf_indexer *x, const uint8_t **p, const uint8_t *end, struct line *l)
{
    const uint8_t *at = *p;
    uint64_t id;
    if (end - at < 24 || x->o.main_alias != NULL || x->o.known != NULL)
        return false;
    const unsigned n = ctf_fast_digits(at, &id);
    id = n == 0 ? 0 : id;
    at += n;
    while (n == 8 && text_is_digit(*at) && at - *p < 19)
        id = 10 * id + (uint64_t)(*at++ - '0');
    l->has_id = at > *p;
    l->id = id;
    at += *at == ' ';
    if (*at != '|' || at[1] == '#')
        return false;
    *p = at;
    return true;
}

/* ---- the pass ---------------------------------------------------------------------------- */

enum imrec_status
ctf_indexer_feed(struct ctf_indexer *x, struct bytes piece, bool last, struct imrec_error *err)
{
    const uint8_t *p = piece.p, *const end = piece.p + piece.n;
    if (x->at == 0 && piece.n >= 2 &&
        (memcmp(p, "\xFF\xFE", 2) == 0 || memcmp(p, "\xFE\xFF", 2) == 0))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0,
                              "%s: byte 0: a byte order mark of UTF-16; the text must be ASCII or "
                              "UTF-8",
                              x->o.name);
    if (x->at == 0)
        p += x->at = text_mark(p, piece.n);
    while (p < end) {
        struct line l = {.p = p, .counts = true};
        const uint8_t *at = p;
        const bool plain = is_plain(x, &at, end, &l);
        const uint8_t *lf = line_end(at, end), *next = lf != NULL ? lf + 1 : end;
        if (!plain) {
            l = (struct line){.p = p, .end = lf != NULL ? lf : end};
            l.end -= l.end > p && l.end[-1] == '\r';
            IMREC_TRY(look_at_line(x, &l, err));
        }
        IMREC_TRY(take_line(x, &l, err));
        x->at += (uint64_t)(next - p);
        x->line++;
        p = next;
    }
    return last ? close_sequence(x, x->at, err) : IMREC_OK;
}

enum imrec_status ctf_indexer_new(const struct ctf_index_options *o, struct ctf_indexer **out,
                                  struct imrec_error *err)
{
    struct ctf_indexer *x = *out = imrec_zalloc(1, sizeof(*x));
    if (x == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for an index", o->name);
    x->o = *o;
    x->main_bytes = o->main_alias != NULL ? strlen(o->main_alias) : 0;
    return IMREC_OK;
}

enum imrec_status
ctf_indexer_end(struct ctf_indexer *x, struct ctf_index *out, struct imrec_error *err)
{
    if (x->index.sequences == 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, x->at,
                              "%s: byte %" PRIu64 ": the text ends without a sequence", x->o.name,
                              x->at);
    *out = x->index;
    out->numbered = x->numbered;
    x->index = (struct ctf_index){0};
    return IMREC_OK;
}

void ctf_index_free(struct ctf_index *x)
{
    IMREC_FREE(x->sequence, x->chunk);
    *x = (struct ctf_index){0};
}

void ctf_indexer_free(struct ctf_indexer *x)
{
    if (x != NULL) {
        ctf_index_free(&x->index);
        ctf_ids_free(&x->ids);
    }
    imrec_free(x);
}
