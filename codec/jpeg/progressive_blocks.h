/* codec/jpeg/progressive_blocks.h - blocks of an image's scans, for progressive.c and
 * its variant: everything inline. */
#ifndef IMREC_CODEC_JPEG_PROGRESSIVE_BLOCKS_H
#define IMREC_CODEC_JPEG_PROGRESSIVE_BLOCKS_H

#include "codec/jpeg/codes.h"
#include "codec/jpeg/jpeg_blocks.h"
#include "codec/jpeg/jpeg_planes.h"

enum {
    BLOCK_SIZE = BLOCK * BLOCK,
    LOOK_BITS = 10,
};

/* By the next LOOK_BITS bits; 0: the code is longer.
 *   bits  0-5   bits of the symbol, with its value
 *   bit   7     blocks end with it
 *   bits  8-15  the symbol
 *   bits 16-31  1 << the symbol's run */
struct lookup {
    uint32_t entry[1 << LOOK_BITS];
    struct huffman_code code;
};

enum { ENTRY_BAND = 1 << 7, ENTRY_SIZE = 8, ENTRY_RUN = 12, ENTRY_SKIP = 16 };

struct component {
    int16_t *block;
    uint64_t *mask;
    uint32_t across, down;           /* blocks, in whole MCUs */
    uint32_t real_across, real_down; /* that a scan of this component alone has */
    struct span columns, rows;       /* of blocks that become samples */
    uint8_t known[BLOCK_SIZE];       /* bits that are not known yet; UNKNOWN: no scan had it */
};

enum { UNKNOWN = 255 };

struct scanning;

/* The MCUs [from, end) of a restart interval. False: the bits make no sense, or they end. */
typedef bool
progressive_run_fn(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end);
#if defined(__x86_64__)
progressive_run_fn progressive_run_bmi2; /* the same with the instructions of BMI2 */
progressive_run_fn progressive_run_avx512;
#endif

struct progressive {
    progressive_run_fn *run;
    struct scratch memory, bits;
    struct component component[MOST_COMPONENTS];
    struct lookup dc[MOST_COMPONENTS], ac; /* of the scan */
};

/* A scan being decoded. */
struct scanning {
    struct progressive *d;
    struct codes *codes; /* of a sequential image */
    const struct frame *f;
    const struct frame_scan *s;
    struct scan_bits b;
    const uint8_t *end;
    int32_t prediction[MOST_COMPONENTS];
    uint32_t bands; /* blocks to come that have no further symbols: EOBRUN */
};

/* A block that a scan is at. */
struct scan_place {
    uint32_t i; /* of the scan's components */
    struct component *c;
    size_t block;
    bool wanted; /* its coefficients; of others only the places that are not 0 */
};

/* Of the code of a symbol, which has `length` bits. */
INLINE uint32_t lookup_entry(uint32_t length, uint32_t symbol)
{
    const uint32_t size = symbol & 15, is_band = size == 0 && symbol != 0xF0;
    return (length + size) | is_band * ENTRY_BAND | symbol << ENTRY_SIZE |
           1u << (symbol >> 4) << ENTRY_SKIP;
}

/* The next symbol's entry, with 16 bits or more in the buffer, none of which are dropped; 0: there
 * is no code. */
INLINE uint32_t next_entry(const struct scan_bits *b, const struct lookup *t)
{
    const uint32_t e = t->entry[b->buffer >> (64 - LOOK_BITS)];
    if (__builtin_expect(e != 0, 1))
        return e;
    struct scan_bits after = *b;
    const uint32_t symbol = take_symbol(&after, &t->code);
    return symbol > 255 ? 0 : lookup_entry(b->count - after.count, symbol);
}

INLINE uint32_t entry_size(uint32_t entry)
{
    return entry >> ENTRY_SIZE & 15;
}

INLINE void drop_entry(struct scan_bits *b, uint32_t entry)
{
    drop(b, entry & 63);
}

/* The value after the symbol, of `size` bits, which may be none. */
INLINE int32_t entry_value(const struct scan_bits *b, uint32_t entry, uint32_t size)
{
    return signed_value(last_bits(b, entry & 63, size), size);
}

INLINE uint32_t next_bits(struct scan_bits *b, uint32_t n) /* 1 to 32, which are there */
{
    const uint32_t v = (uint32_t)(b->buffer >> (64 - n));
    drop(b, n);
    return v;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

INLINE bool dc_first(struct scanning *s, struct scan_bits *b, struct scan_place at)
{
    refill(b);
    const uint32_t e = next_entry(b, &s->d->dc[at.i]), size = e >> ENTRY_SIZE & 255;
    if (e == 0 || size > MOST_DC_SIZE)
        return false;
    const int32_t all = s->prediction[at.i] + entry_value(b, e, size);
    const int32_t v = (int32_t)((uint32_t)all << s->s->low);
    drop_entry(b, e);
    s->prediction[at.i] = all;
    at.c->block[at.block * BLOCK_SIZE] = (int16_t)v;
    return all == (int16_t)all && v == (int16_t)v;
}

INLINE bool dc_refine(struct scanning *s, struct scan_bits *b, struct scan_place at)
{
    int16_t *coef = at.c->block + at.block * BLOCK_SIZE;
    refill(b);
    *coef = (int16_t)(*coef | (int32_t)next_bits(b, 1) << s->s->low);
    return true;
}

/* The blocks, with this one, that end here, by the symbol's run. */
INLINE uint32_t blocks_to_end(struct scan_bits *b, uint32_t e)
{
    const uint32_t run = e >> ENTRY_RUN & 15;
    return run == 0 ? 1 : (1u << run) + next_bits(b, run);
}

/* Refills come after a look, which does not wait for them: after a symbol and its value there are
 * still the bits of the next. */
INLINE bool ac_first(struct scanning *s, struct scan_bits *b, struct scan_place at)
{
    const uint32_t end = s->s->end, low = s->s->low;
    int16_t nobody[BLOCK_SIZE], *coef = at.wanted ? at.c->block + at.block * BLOCK_SIZE : nobody;
    uint64_t mask = 0;
    uint32_t k = s->s->from;
    if (s->bands > 0) {
        s->bands--;
        return true;
    }
    refill(b);
    do {
        const uint32_t e = next_entry(b, &s->d->ac), size = entry_size(e);
        refill(b);
        if ((e & ENTRY_BAND) != 0) {
            drop_entry(b, e);
            s->bands = blocks_to_end(b, e) - 1;
            break;
        }
        k += e >> ENTRY_RUN & 15;
        if (e == 0 || k > end || size + low > 15)
            return false;
        coef[natural_order[k]] = (int16_t)((uint32_t)entry_value(b, e, size) << low);
        mask |= (uint64_t)(size != 0) << k++;
        drop_entry(b, e);
    } while (k <= end);
    at.c->mask[at.block] |= mask;
    return true;
}

/* Zigzag indexes from <= k < end; end is 64 or less. */
INLINE uint64_t between(uint32_t from, uint32_t end)
{
    return from < end ? ~UINT64_C(0) << from & ~UINT64_C(0) >> (64 - end) : 0;
}

/* The one after as many others as `skip` is shifted; 0: there is none. */
INLINE uint64_t bit_after(uint64_t mask, uint32_t skip)
{
#if defined(__BMI2__)
    return _pdep_u64(skip, mask);
#else
    for (; skip > 1; skip >>= 1)
        mask &= mask - 1;
    return mask & -mask;
#endif
}

/* What a refining scan says of a block: masks by zigzag index, but for `corrections`, a bit for
 * each coefficient that was not 0, the last one lowest. */
struct refinement {
    uint64_t old, corrections, plus, minus;
};

/* The bits of the next n of the old coefficients. */
INLINE void take_corrections(struct scan_bits *b, struct refinement *r, uint32_t n)
{
    enum { SURE = 56 - 16 }; /* leaves a code's */
    refill(b);
    for (; __builtin_expect(n > SURE, 0); n -= SURE) {
        r->corrections = r->corrections << SURE | b->buffer >> (64 - SURE);
        drop(b, SURE);
        refill(b);
    }
    r->corrections = r->corrections << n | b->buffer >> 1 >> (63 - n);
    drop(b, n);
}

/* The scan's bits of a block. */
INLINE bool
take_refinement(struct scanning *s, struct scan_bits *b, struct refinement *r, uint64_t band)
{
    uint64_t zeros = band & ~r->old, old = r->old;
    refill(b);
    for (uint64_t at = 0, last = UINT64_C(1) << s->s->end; s->bands == 0 && at != last;) {
        const uint32_t e = next_entry(b, &s->d->ac), size = entry_size(e);
        if ((e & ENTRY_BAND) != 0) {
            drop_entry(b, e);
            refill(b);
            s->bands = blocks_to_end(b, e);
            break;
        }
        at = bit_after(zeros, e >> ENTRY_SKIP);
        if (e == 0 || size > 1 || at == 0) /* libjpeg would go beyond the band */
            return false;
        const uint64_t sign = last_bits(b, e & 63, size);
        r->plus |= at & -sign;
        r->minus |= at & (sign - size);
        drop_entry(b, e);
        take_corrections(b, r, (uint32_t)__builtin_popcountll(old & (at - 1)));
        old &= -at;
        zeros &= -at << 1;
    }
    if (s->bands > 0) {
        take_corrections(b, r, (uint32_t)__builtin_popcountll(old));
        s->bands--;
    }
    return true;
}

#if defined(__AVX512VBMI__)
static const uint8_t mirror[BLOCK_SIZE] = {
    63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42,
    41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
    19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0,
};

/* A mask whose bit i is bit from[i] of another. */
INLINE uint64_t permute_mask(uint64_t mask, __m512i from)
{
    return _mm512_movepi8_mask(_mm512_permutexvar_epi8(from, _mm512_movm_epi8(mask)));
}

/* Adds `value` to half a block's coefficients, with the signs that they have, and 1 and -1 of it.
 */
INLINE void
refine_half(int16_t *coef, uint32_t corrections, uint32_t plus, uint32_t minus, __m512i value)
{
    __m512i v = _mm512_loadu_si512(coef);
    const uint32_t negative = _mm512_movepi16_mask(v);
    v = _mm512_mask_add_epi16(v, (corrections & ~negative) | plus, v, value);
    v = _mm512_mask_sub_epi16(v, (corrections & negative) | minus, v, value);
    _mm512_storeu_si512(coef, v);
}

/* Adds what a scan says to the coefficients. The corrections are last one lowest, so they get to
 * their places in a mask that is mirrored: bit i is of zigzag index 63 - i. */
INLINE void refine(int16_t *coef, const struct refinement *r, uint32_t low)
{
    const __m512i all = _mm512_set1_epi8(BLOCK_SIZE - 1);
    const __m512i zigzag = _mm512_loadu_si512(zigzag_index);
    const __m512i mirrored = _mm512_xor_si512(zigzag, all);
    const uint64_t old = permute_mask(r->old, _mm512_loadu_si512(mirror));
    const uint64_t fix = permute_mask(_pdep_u64(r->corrections, old), mirrored);
    const uint64_t plus = permute_mask(r->plus, zigzag), minus = permute_mask(r->minus, zigzag);
    const __m512i value = _mm512_set1_epi16((int16_t)(1 << low));
    refine_half(coef, (uint32_t)fix, (uint32_t)plus, (uint32_t)minus, value);
    refine_half(coef + 32, (uint32_t)(fix >> 32), (uint32_t)(plus >> 32), (uint32_t)(minus >> 32),
                value);
}
#else
INLINE void put(int16_t *coef, uint64_t mask, int32_t value)
{
    for (; mask != 0; mask &= mask - 1)
        coef[natural_order[__builtin_ctzll(mask)]] = (int16_t)value;
}

/* Adds what a scan says to the coefficients. */
INLINE void refine(int16_t *coef, const struct refinement *r, uint32_t low)
{
    uint64_t bits = r->corrections;
    for (uint64_t mask = r->old; bits != 0; bits >>= 1) {
        const uint32_t k = 63 - (uint32_t)__builtin_clzll(mask);
        int16_t *c = &coef[natural_order[k]];
        const int32_t sign = *c >> 15, bit = (int32_t)(bits & 1) << low;
        *c = (int16_t)(*c + ((bit ^ sign) - sign));
        mask ^= UINT64_C(1) << k;
    }
    put(coef, r->plus, 1 << low);
    put(coef, r->minus, -(1 << low));
}
#endif

INLINE bool ac_refine(struct scanning *s, struct scan_bits *b, struct scan_place at)
{
    const uint64_t band = between(s->s->from, s->s->end + 1), mask = at.c->mask[at.block];
    struct refinement r = {.old = mask & band};
    if (!take_refinement(s, b, &r, band))
        return false;
    at.c->mask[at.block] = mask | r.plus | r.minus;
    if (at.wanted)
        refine(at.c->block + at.block * BLOCK_SIZE, &r, s->s->low);
    return true;
}

/* Of a sequential image, which has all of a block at once. */
INLINE bool whole_block(struct scanning *s, struct scan_bits *b, struct scan_place at)
{
    int16_t *coef = at.c->block + at.block * BLOCK_SIZE;
    uint32_t last;
    if (!take_dc(b, &s->codes->dc[s->s->dc_of[at.i]], &s->prediction[at.i]))
        return false;
    coef[0] = (int16_t)s->prediction[at.i];
    if (!take_ac(b, &s->codes->ac[s->s->ac_of[at.i]], coef, &last))
        return false;
    at.c->mask[at.block] = last > 0 ? UINT64_C(1) << last : 0; /* of them the last alone matters */
    return true;
}

/* ---- MCUs ------------------------------------------------------------------------------------ */

typedef bool block_fn(struct scanning *s, struct scan_bits *b, struct scan_place at);

INLINE struct scan_place place(struct scanning *s, uint32_t i, uint32_t x, uint32_t y)
{
    struct component *c = &s->d->component[s->s->component[i]];
    return (struct scan_place){.i = i,
                               .c = c,
                               .block = (size_t)y * c->across + x,
                               .wanted = span_holds(c->columns, x) && span_holds(c->rows, y)};
}

/* MCU (x, y). */
INLINE bool take_mcu(struct scanning *s, struct scan_bits *b, const struct geometry *g, uint32_t x,
                     uint32_t y, block_fn *block)
{
    for (uint32_t i = 0; i < s->s->components; i++) {
        const struct plane *c = &g->plane[s->s->component[i]];
        for (uint32_t row = 0; row < c->v; row++)
            for (uint32_t column = 0; column < c->h; column++)
                if (!block(s, b, place(s, i, x * c->h + column, y * c->v + row)))
                    return false;
    }
    return true;
}

/* In a scan of one component, `alone`, an MCU is a block, and none is beyond the image. */
INLINE bool take_mcus(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end,
                      bool alone, block_fn *block)
{
    const uint32_t across = alone ? s->d->component[s->s->component[0]].real_across : g->across;
    struct scan_bits b = s->b;
    for (uint32_t n = from, x = from % across, y = from / across; n < end; n++) {
        const bool good = alone ? block(s, &b, place(s, 0, x, y)) : take_mcu(s, &b, g, x, y, block);
        if (!good || bits_left(&b, s->end) < 0)
            return false;
        if (++x == across) {
            x = 0;
            y++;
        }
    }
    s->b = b;
    return true;
}

/* Each kind of scan has a loop of its own, as the compiler has registers for one of them. AC scans
 * are of one component. */
#define SCAN(name, block, alone)                                                                   \
    __attribute__((noinline)) static bool name(struct scanning *s, const struct geometry *g,       \
                                               uint32_t from, uint32_t end)                        \
    {                                                                                              \
        return (alone) ? take_mcus(s, g, from, end, true, block)                                   \
                       : take_mcus(s, g, from, end, false, block);                                 \
    }

SCAN(take_dc_first, dc_first, s->s->components == 1)
SCAN(take_dc_refine, dc_refine, s->s->components == 1)
SCAN(take_ac_first, ac_first, true)
SCAN(take_ac_refine, ac_refine, true)
SCAN(take_whole, whole_block, s->s->components == 1)

INLINE bool take_run(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end)
{
    if (!s->f->progressive)
        return take_whole(s, g, from, end);
    if (s->s->from == 0)
        return s->s->high == 0 ? take_dc_first(s, g, from, end) : take_dc_refine(s, g, from, end);
    return s->s->high == 0 ? take_ac_first(s, g, from, end) : take_ac_refine(s, g, from, end);
}
#endif
