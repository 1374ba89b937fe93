/* codec/baseline/blocks.h - Huffman decoding, for scan.c and its variants: everything inline.
 *
 * What costs here is the chain from one symbol to the next: the upper bits of the buffer, a load
 * from the table, a shift by what it says. All else (values, positions, stores) hangs beside
 * that chain. Refills read 8 bytes wherever they are; the bytes behind the data are zeros. */
#ifndef IMREC_CODEC_BASELINE_BLOCKS_H
#define IMREC_CODEC_BASELINE_BLOCKS_H

#include "codec/baseline/picture.h"
#include "codec/baseline/scan.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t load_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* At least 56 bits are there afterwards. Bits beyond `count` are already the right ones. */
INLINE void refill(struct scan_bits *b)
{
    b->buffer |= load_be64(b->p) >> b->count;
    b->p += (63 - b->count) >> 3;
    b->count |= 56;
}

INLINE void drop(struct scan_bits *b, uint32_t n)
{
    b->buffer <<= n;
    b->count -= n;
}

/* The signed value of the last `size` of the next `length` bits. */
INLINE int32_t value_at(const struct scan_bits *b, uint32_t length, uint32_t size)
{
    const uint64_t bits = b->buffer << (length - size);
    const uint64_t negative = (uint64_t)((int64_t)~bits >> 63); /* a 0 in front: all ones here */
    const uint64_t magnitude = ((bits ^ negative) >> 1) >> (63 - size);
    return (int32_t)((magnitude ^ negative) - negative);
}

/* One code of any length, out of the buffer; > 255: there is none. */
INLINE uint32_t take_symbol(struct scan_bits *b, const struct huffman_code *c)
{
    const uint32_t next = (uint32_t)(b->buffer >> 48);
    uint32_t length = 1;
    while (length <= 16 && next >= c->limit[length])
        length++;
    if (length > 16)
        return 256;
    drop(b, length);
    return c->symbols[(int32_t)(next >> (16 - length)) + c->offset[length]];
}

/* One AC symbol of the block at *k. False: it makes no sense. The end of the block is *k = 64,
 * and *last stays; coef may be NULL. */
INLINE bool one_symbol(struct scan_bits *b, const struct huffman_ac *t, uint32_t *k, uint32_t *last,
                       int16_t *coef)
{
    refill(b);
    const uint32_t symbol = take_symbol(b, &t->code), run = symbol >> 4, size = symbol & 15;
    if (symbol > 255)
        return false;
    if (size == 0 && run != 15) {
        *k = BLOCK * BLOCK;
        return true;
    }
    *k += run;
    if (*k >= BLOCK * BLOCK)
        return false;
    if (coef != NULL)
        coef[natural_order[*k]] = (int16_t)value_at(b, size, size);
    *last = *k;
    drop(b, size);
    ++*k;
    return true;
}

INLINE bool take_dc(struct scan_bits *b, const struct huffman_dc *t, int32_t *prediction)
{
    refill(b);
    const uint32_t e = t->entry[b->buffer >> (64 - DC_BITS)];
    uint32_t length = e & 63, size = e >> 6;
    if (__builtin_expect(length == 0, 0)) {
        size = take_symbol(b, &t->code);
        if (size > 255)
            return false;
        length = size;
    }
    *prediction += value_at(b, length, size);
    drop(b, length);
    return *prediction == (int16_t)*prediction;
}

/* What a pair that is not simply two coefficients means. False: nonsense. */
INLINE bool pair_special(struct scan_bits *b, const struct huffman_ac *t, uint32_t e, uint32_t *k,
                         uint32_t *last, int16_t *coef)
{
    const uint32_t at = *k + (e >> 12 & 15);
    const int32_t first = (int32_t)e >> 20;
    if ((e >> 6 & 63) != PAIR_END || (e & 63) == 0 || (first != 0 && at >= BLOCK * BLOCK - 1))
        return one_symbol(b, t, k, last, coef);
    if (first != 0) {
        coef[natural_order[at]] = (int16_t)first;
        *last = at;
    }
    drop(b, e & 63);
    *k = BLOCK * BLOCK;
    return true;
}

/* The AC coefficients of a block of zeros. */
INLINE bool take_ac(struct scan_bits *b, const struct huffman_ac *t, int16_t *coef, uint32_t *last)
{
    uint32_t k = 1;
    *last = 0;
    while (k < BLOCK * BLOCK) {
        refill(b);
        for (int i = 0; i < 2; i++) { /* 2 x 25 bits at most */
            const uint32_t e = t->pair[b->buffer >> (64 - AC_BITS)];
            const uint32_t second = k + (e >> 6 & 63);
            if (second >= BLOCK * BLOCK) {
                if (k < BLOCK * BLOCK && !pair_special(b, t, e, &k, last, coef))
                    return false;
                break;
            }
            coef[natural_order[k + (e >> 12 & 15)]] = (int16_t)((int32_t)e >> 20);
            coef[natural_order[second]] = (int16_t)value_at(b, e & 63, e >> 16 & 15);
            drop(b, e & 63);
            *last = second;
            k = second + 1;
        }
    }
    return true;
}

INLINE bool skip_ac(struct scan_bits *b, const struct huffman_ac *t)
{
    uint32_t k = 1, last;
    while (k < BLOCK * BLOCK) {
        refill(b);
        for (int i = 0; i < 2; i++) {
            const uint32_t e = t->skip[b->buffer >> (64 - AC_BITS)];
            const uint32_t next = k + (e >> 6);
            if (next > BLOCK * BLOCK) {
                if (next >= SKIP_END && next < SKIP_END + BLOCK * BLOCK) {
                    drop(b, e & 63);
                    return true;
                }
                if (k < BLOCK * BLOCK && !one_symbol(b, t, &k, &last, NULL))
                    return false;
                break;
            }
            drop(b, e & 63);
            k = next;
        }
    }
    return true;
}

/* The bits behind the last MCU: may be fewer than none. */
INLINE int64_t bits_left(const struct scan_bits *b, const uint8_t *end)
{
    return (int64_t)(end - b->p) * 8 + b->count;
}

INLINE bool
take_block(struct scan *s, struct scan_bits *b, const struct scan_block *block, size_t mcu)
{
    _Alignas(64) int16_t coef[BLOCK * BLOCK];
    uint32_t last;
    int32_t *prediction = &s->dc[block->component];
    if (!take_dc(b, block->dc, prediction))
        return false;
    if (!block->wanted)
        return skip_ac(b, block->ac);
    memset(coef, 0, sizeof(coef));
    coef[0] = (int16_t)*prediction;
    if (!take_ac(b, block->ac, coef, &last))
        return false;
    s->idct(coef, block->quant, last, block->out + mcu * block->step, block->stride);
    return true;
}

INLINE bool run_mcus(struct scan *s, uint32_t count)
{
    struct scan_bits b = s->bits;
    for (size_t mcu = 0; mcu < count; mcu++) {
        for (uint32_t i = 0; i < s->blocks; i++)
            if (!take_block(s, &b, &s->block[i], mcu))
                return false;
        if (bits_left(&b, s->end) < 0)
            return false;
    }
    s->bits = b;
    return true;
}
#endif
