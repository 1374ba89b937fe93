/* codec/jpeg/lanes.c - pieces decoded one after the other: what the lanes of vectors must
 * equal, and what they leave to it. */
#include "codec/jpeg/lanes.h"

#include "codec/jpeg/jpeg_blocks.h"

enum { BLOCK_COEFFICIENTS = BLOCK * BLOCK };

const uint8_t lane_next[LANE_PLACES] = {1, 2, 3, 4, 5, 0, 7, 8, 9, 6, 11, 12, 10, 13};
const uint8_t lane_kind[LANE_PLACES] = {0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0};

struct lane_state lane_begin(const struct lane_piece *piece)
{
    return (struct lane_state){.bit = piece->from,
                               .k = LANE_BEFORE,
                               .block = piece->mcu,
                               .out = piece->out,
                               .end = piece->out + (size_t)piece->blocks * BLOCK_COEFFICIENTS};
}

static struct scan_bits bits_at(const struct lane_piece *piece, uint64_t bit)
{
    struct scan_bits b = {.p = piece->bits + bit / 8};
    refill(&b);
    drop(&b, bit % 8);
    refill(&b);
    return b;
}

static uint64_t bit_of(const struct lane_piece *piece, const struct scan_bits *b)
{
    return (uint64_t)(b->p - piece->bits) * 8 - b->count;
}

/* The block is complete: on to the next. */
static void next_block(struct lane_state *s)
{
    s->k = LANE_BEFORE;
    s->out += BLOCK_COEFFICIENTS;
    s->block = lane_next[s->block];
}

static bool take_difference(const struct lane_tables *t, struct scan_bits *b, struct lane_state *s)
{
    const uint32_t size = take_symbol(b, &t->dc[lane_kind[s->block]]);
    if (size > MOST_DC_SIZE)
        return false;
    s->out[0] = (int16_t)next_value(b, size);
    drop(b, size);
    s->k = 0;
    return true;
}

static bool take_coefficient(const struct lane_tables *t, struct scan_bits *b, struct lane_state *s)
{
    const uint32_t symbol = take_symbol(b, &t->ac[lane_kind[s->block]]);
    const uint32_t run = symbol >> 4, size = symbol & 15;
    if (symbol > 255)
        return false;
    if (size == 0 && run != 15) {
        next_block(s);
        return true;
    }
    s->k += run + 1;
    if (s->k >= BLOCK_COEFFICIENTS)
        return false;
    s->out[s->k] = (int16_t)next_value(b, size);
    drop(b, size);
    if (s->k == BLOCK_COEFFICIENTS - 1)
        next_block(s);
    return true;
}

static bool take_by_code(const struct lane_tables *t, struct scan_bits *b, struct lane_state *s)
{
    refill(b);
    return s->k == LANE_BEFORE ? take_difference(t, b, s) : take_coefficient(t, b, s);
}

bool lane_symbol(const struct lane_tables *t, const struct lane_piece *piece, struct lane_state *s)
{
    struct scan_bits b = bits_at(piece, s->bit);
    const bool good = take_by_code(t, &b, s);
    s->bit = bit_of(piece, &b);
    return good;
}

/* ---- by the tables ------------------------------------------------------------------------ */

INLINE uint64_t look_up(const struct lane_tables *t, const struct scan_bits *b, uint32_t table)
{
    return t->entry[table * LANE_ENTRIES + (b->buffer >> (64 - LANE_BITS))];
}

/* What the next bits are, in the second table where the first leads there. */
INLINE uint64_t entry_of(const struct lane_tables *t, struct scan_bits *b,
                         const struct lane_state *s)
{
    const uint32_t kind = lane_kind[s->block];
    if (s->k == LANE_BEFORE)
        return look_up(t, b, LANE_DC + kind);
    const uint64_t e = look_up(t, b, LANE_AC + kind);
    if ((e & LANE_LONG) == 0)
        return e;
    drop(b, LANE_LONG_BITS);
    return look_up(t, b, LANE_AC_LONG + kind);
}

/* The last of an entry's values, which its last bits are. */
INLINE int16_t last_value(const struct scan_bits *b, uint64_t e)
{
    const uint64_t bits = b->buffer >> 1 >> (63 - (e & 63)) & (e >> LANE_MASK & 0x7FF);
    return (int16_t)((int64_t)bits + ((int64_t)(e << (64 - LANE_FIRST)) >> 52));
}

/* One or two symbols. False: they make no sense. */
INLINE bool take_symbols(const struct lane_tables *t, struct scan_bits *b, struct lane_state *s)
{
    const struct scan_bits before = *b;
    const uint64_t e = entry_of(t, b, s);
    const uint32_t at = (s->k + (uint32_t)(e >> LANE_PLACE)) & 255, last = at % BLOCK_COEFFICIENTS;
    if (at & LANE_ODD) {
        *b = before;
        return take_by_code(t, b, s);
    }
    s->out[last - (3 - (e >> LANE_APART & 7))] = (int16_t)(e >> LANE_FIRST);
    s->out[last] = last_value(b, e);
    drop(b, e & 63);
    s->k = at;
    if (at >= BLOCK_COEFFICIENTS - 1)
        next_block(s);
    return true;
}

/* False: it is bad. */
static bool finish_piece(const struct lane_tables *t, struct lane_piece *piece, struct lane_state s)
{
    struct scan_bits b = bits_at(piece, s.bit);
    while (s.out < s.end) {
        const int16_t *block = s.out;
        while (s.out == block) {
            refill(&b);
            if (!take_symbols(t, &b, &s))
                return false;
        }
        if (bits_left(&b, piece->bits + piece->bytes) < 0)
            return false;
    }
    piece->taken = bit_of(piece, &b);
    return true;
}

void lane_finish(const struct lane_tables *t, const struct lane_source *source,
                 struct lane_piece *piece, struct lane_state s)
{
    while (piece != NULL) {
        piece->bad |= s.bit > (uint64_t)piece->bytes * 8 || !finish_piece(t, piece, s);
        piece = source->next(source->context, piece);
        if (piece != NULL)
            s = lane_begin(piece);
    }
}

void lanes_scalar(const struct lane_tables *t, const struct lane_source *source)
{
    struct lane_piece *first = source->next(source->context, NULL);
    if (first != NULL)
        lane_finish(t, source, first, lane_begin(first));
}
