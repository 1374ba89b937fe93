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

/* A code of up to LOOK_BITS bits: length << 8 | symbol; 0: it is longer. */
struct lookup {
    uint16_t entry[1 << LOOK_BITS];
    struct huffman_code code;
};

struct component {
    int16_t *block;
    uint64_t *mask;
    uint32_t across, down;           /* blocks, in whole MCUs */
    uint32_t real_across, real_down; /* that a scan of this component alone has */
    uint8_t known[BLOCK_SIZE];       /* bits that are not known yet; UNKNOWN: no scan had it */
};

enum { UNKNOWN = 255 };

struct scanning;

/* The MCUs [from, end) of a restart interval. False: the bits make no sense, or they end. */
typedef bool
progressive_run_fn(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end);
#if defined(__x86_64__)
progressive_run_fn progressive_run_bmi2; /* the same with the instructions of BMI2 */
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

/* At least 56 - 16 bits are there afterwards; > 255: no code. */
INLINE uint32_t next_symbol(struct scan_bits *b, const struct lookup *t)
{
    refill(b);
    const uint32_t e = t->entry[b->buffer >> (64 - LOOK_BITS)];
    if (__builtin_expect(e == 0, 0))
        return take_symbol(b, &t->code);
    drop(b, e >> 8);
    return e & 255;
}

INLINE uint32_t next_bits(struct scan_bits *b, uint32_t n) /* 1 to 32, which are there */
{
    const uint32_t v = (uint32_t)(b->buffer >> (64 - n));
    drop(b, n);
    return v;
}

INLINE int32_t next_number(struct scan_bits *b, uint32_t size)
{
    const int32_t v = next_value(b, size);
    drop(b, size);
    return v;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool dc_first(struct scanning *s, uint32_t i, struct component *c, size_t block)
{
    const uint32_t size = next_symbol(&s->b, &s->d->dc[i]);
    if (size > MOST_DC_SIZE)
        return false;
    s->prediction[i] += next_number(&s->b, size);
    const int32_t v = (int32_t)((uint32_t)s->prediction[i] << s->s->low);
    if (s->prediction[i] != (int16_t)s->prediction[i] || v != (int16_t)v)
        return false;
    c->block[block * BLOCK_SIZE] = (int16_t)v;
    return true;
}

static bool dc_refine(struct scanning *s, struct component *c, size_t block)
{
    refill(&s->b);
    if (next_bits(&s->b, 1) != 0)
        c->block[block * BLOCK_SIZE] = (int16_t)(c->block[block * BLOCK_SIZE] | 1 << s->s->low);
    return true;
}

/* The blocks, with this one, that end here, by the symbol's run. */
INLINE uint32_t blocks_to_end(struct scan_bits *b, uint32_t run)
{
    return run == 0 ? 1 : (1u << run) + next_bits(b, run);
}

static bool ac_first(struct scanning *s, struct component *c, size_t block)
{
    const uint32_t end = s->s->end, low = s->s->low;
    int16_t *coef = c->block + block * BLOCK_SIZE;
    uint64_t mask = 0;
    struct scan_bits b = s->b;
    if (s->bands > 0) {
        s->bands--;
        return true;
    }
    for (uint32_t k = s->s->from; k <= end; k++) {
        const uint32_t symbol = next_symbol(&b, &s->d->ac), run = symbol >> 4, size = symbol & 15;
        if (symbol > 255)
            return false;
        if (size == 0 && run != 15) {
            s->bands = blocks_to_end(&b, run) - 1;
            break;
        }
        k += run;
        if (k > end || size + low > 15)
            return false;
        if (size == 0)
            continue;
        coef[natural_order[k]] = (int16_t)((uint32_t)next_number(&b, size) << low);
        mask |= UINT64_C(1) << k;
    }
    c->mask[block] |= mask;
    s->b = b;
    return true;
}

/* One more bit of each coefficient of a mask, none of which is 0. */
INLINE void correct(struct scan_bits *b, int16_t *coef, uint64_t mask, uint32_t low)
{
    while (mask != 0) {
        refill(b);
        uint64_t bits = b->buffer;
        uint32_t n = 0;
        for (; mask != 0 && n < 56; n++, mask &= mask - 1, bits <<= 1) {
            int16_t *c = &coef[natural_order[__builtin_ctzll(mask)]];
            const int32_t sign = *c >> 15, bit = (int32_t)(bits >> 63) << low;
            *c = (int16_t)(*c + ((bit ^ sign) - sign));
        }
        drop(b, n);
    }
}

/* Zigzag indexes from <= k < end; end is 64 or less. */
INLINE uint64_t between(uint32_t from, uint32_t end)
{
    return from < end ? ~UINT64_C(0) << from & ~UINT64_C(0) >> (64 - end) : 0;
}

/* The place of the coefficient that is 0 after `run` others; the band's end + 1 or more: none. */
INLINE uint32_t zero_after(uint64_t mask, uint32_t k, uint32_t run)
{
    uint64_t zeros = ~mask & between(k, BLOCK_SIZE);
#if defined(__BMI2__)
    zeros = _pdep_u64(UINT64_C(1) << run, zeros);
#else
    for (; run > 0 && zeros != 0; run--)
        zeros &= zeros - 1;
#endif
    return zeros != 0 ? (uint32_t)__builtin_ctzll(zeros) : BLOCK_SIZE;
}

static bool ac_refine(struct scanning *s, struct component *c, size_t block)
{
    const uint32_t end = s->s->end, low = s->s->low;
    int16_t *coef = c->block + block * BLOCK_SIZE;
    const uint64_t mask = c->mask[block];
    uint32_t k = s->s->from;
    struct scan_bits b = s->b;
    while (s->bands == 0 && k <= end) {
        const uint32_t symbol = next_symbol(&b, &s->d->ac), run = symbol >> 4, size = symbol & 15;
        if (symbol > 255 || size > 1)
            return false;
        if (size == 0 && run != 15) {
            s->bands = blocks_to_end(&b, run);
            break;
        }
        int16_t value = 0;
        if (size == 1)
            value = (int16_t)(next_bits(&b, 1) != 0 ? 1 << low : -(1 << low));
        const uint32_t at = zero_after(mask, k, run);
        if (at > end)
            return false; /* libjpeg would go beyond the band */
        correct(&b, coef, mask & between(k, at), low);
        k = at;
        if (size == 1) {
            coef[natural_order[k]] = value;
            c->mask[block] |= UINT64_C(1) << k;
        }
        k++;
    }
    if (s->bands > 0) {
        correct(&b, coef, mask & between(k, end + 1), low);
        s->bands--;
    }
    s->b = b;
    return true;
}

/* Block (x, y) of the scan's component i. */
typedef bool block_fn(struct scanning *s, uint32_t i, uint32_t x, uint32_t y);

/* Of a progressive image. */
static bool take(struct scanning *s, uint32_t i, uint32_t x, uint32_t y)
{
    struct component *c = &s->d->component[s->s->component[i]];
    const size_t block = (size_t)y * c->across + x;
    if (s->s->from == 0)
        return s->s->high == 0 ? dc_first(s, i, c, block) : dc_refine(s, c, block);
    return s->s->high == 0 ? ac_first(s, c, block) : ac_refine(s, c, block);
}

/* Of a sequential one, which has all of it. */
__attribute__((noinline)) static bool
take_whole(struct scanning *s, uint32_t i, uint32_t x, uint32_t y)
{
    struct component *c = &s->d->component[s->s->component[i]];
    const size_t block = (size_t)y * c->across + x;
    int16_t *coef = c->block + block * BLOCK_SIZE;
    struct scan_bits b = s->b;
    uint32_t last;
    if (!take_dc(&b, &s->codes->dc[s->s->dc_of[i]], &s->prediction[i]))
        return false;
    coef[0] = (int16_t)s->prediction[i];
    if (!take_ac(&b, &s->codes->ac[s->s->ac_of[i]], coef, &last))
        return false;
    c->mask[block] = last > 0 ? UINT64_C(1) << last : 0; /* of them the last alone matters */
    s->b = b;
    return true;
}

/* MCU number `n` of the scan. */
INLINE bool take_mcu(struct scanning *s, const struct geometry *g, uint32_t n, block_fn *block)
{
    const struct component *alone = &s->d->component[s->s->component[0]];
    if (s->s->components == 1)
        return block(s, 0, n % alone->real_across, n / alone->real_across);
    for (uint32_t i = 0; i < s->s->components; i++) {
        const uint32_t c = s->s->component[i];
        const uint32_t h = g->plane[c].h, v = g->plane[c].v;
        for (uint32_t k = 0; k < h * v; k++)
            if (!block(s, i, n % g->across * h + k % h, n / g->across * v + k / h))
                return false;
    }
    return true;
}

INLINE bool take_mcus(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end,
                      block_fn *block)
{
    for (uint32_t n = from; n < end; n++)
        if (!take_mcu(s, g, n, block) || bits_left(&s->b, s->end) < 0)
            return false;
    return true;
}

INLINE bool take_run(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end)
{
    return s->f->progressive ? take_mcus(s, g, from, end, take)
                             : take_mcus(s, g, from, end, take_whole);
}
#endif
