/* codec/jpeg/jpeg_blocks.h - Huffman decoding, for scan.c and its variants: everything inline.
 *
 * The slow part is the chain from one symbol to the next: the upper bits of the buffer, a load from
 * the table, a shift by its length. Everything else (values, positions, stores) runs in parallel to
 * that chain. Refills read 8 bytes at any alignment; the bytes after the data are zeros. */
#ifndef IMREC_CODEC_JPEG_JPEG_BLOCKS_H
#define IMREC_CODEC_JPEG_JPEG_BLOCKS_H

#include "codec/jpeg/frame.h"
#include "codec/jpeg/kernels/zigzag.h"
#include "codec/jpeg/scan.h"

#include <string.h>
#if defined(__BMI2__)
#include <immintrin.h>
#endif

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

/* The last `size` of the next `bits` (1 or more) bits; what is above bit 7 of `size` is ignored. */
INLINE uint32_t last_bits(const struct scan_bits *b, uint32_t bits, uint64_t size)
{
    const uint64_t front = b->buffer >> (64 - bits);
#if defined(__BMI2__)
    return (uint32_t)_bzhi_u64(front, (uint32_t)size);
#else
    return (uint32_t)front & ((1u << (size & 31)) - 1);
#endif
}

/* What `size` bits, which may be none, mean as a signed value. Its sign, which nobody can foretell,
 * takes no branch. */
INLINE int32_t signed_value(uint32_t bits, uint32_t size)
{
    const uint32_t is_positive = bits << 1 >> size;
    return (int32_t)(bits + ((is_positive - 1) & (1 - (1u << size))));
}

/* Of the next bits. */
INLINE int32_t next_value(const struct scan_bits *b, uint32_t size)
{
    return signed_value((uint32_t)(b->buffer >> 32 >> (32 - size)), size);
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

INLINE bool take_dc(struct scan_bits *b, const struct huffman_dc *t, int32_t *prediction)
{
    refill(b);
    const struct huffman_difference *e = &t->entry[b->buffer >> (64 - DC_BITS)];
    if (__builtin_expect(e->bits != 0, 1)) {
        *prediction += e->base + (int32_t)last_bits(b, e->bits, e->size);
        drop(b, e->bits);
    } else {
        const uint32_t size = take_symbol(b, &t->code);
        if (size > 255)
            return false;
        *prediction += next_value(b, size);
        drop(b, size);
    }
    return *prediction == (int16_t)*prediction;
}

/* One block's coefficients. */
struct ac_state {
    uint32_t k;     /* the next; 64 = the block is complete */
    uint32_t last;  /* that was given, when it is */
    bool has_zeros; /* given ones may be 0 */
};

/* One AC symbol. False: it makes no sense. coef may be NULL. */
INLINE bool
one_symbol(struct scan_bits *b, const struct huffman_ac *t, struct ac_state *s, int16_t *coef)
{
    refill(b);
    const uint32_t symbol = take_symbol(b, &t->code), run = symbol >> 4, size = symbol & 15;
    if (symbol > 255)
        return false;
    s->last = s->k - 1;
    if (size == 0 && run != 15) {
        s->k = BLOCK * BLOCK;
        return true;
    }
    s->last = s->k += run;
    s->has_zeros |= size == 0;
    if (s->k >= BLOCK * BLOCK)
        return false;
    if (coef != NULL)
        coef[natural_order[s->k]] = (int16_t)next_value(b, size);
    drop(b, size);
    s->k++;
    return true;
}

/* What a pair that is not simply two coefficients means, while k < 64: as one_symbol(). The end of
 * the block, with or without a coefficient before it, takes no branch to tell which. */
INLINE bool special_pair(struct scan_bits *b, const struct huffman_ac *t, huffman_pair e,
                         struct ac_state *s, int16_t *coef)
{
    const uint32_t at = s->k + (e >> PAIR_FIRST & 255);
    const int16_t value = (int16_t)(e >> PAIR_VALUE);
    const uint32_t end = at + (value != 0);
    if ((e >> PAIR_SECOND & 255) < PAIR_END || (e & 255) == 0 || end >= BLOCK * BLOCK)
        return one_symbol(b, t, s, coef);
    if (coef != NULL)
        coef[natural_order[at]] = value;
    s->last = end - 1;
    drop(b, e & 63);
    s->k = BLOCK * BLOCK;
    return true;
}

/* The next pair. False: it is not simply two coefficients, and nothing has been done. */
INLINE bool take_pair(struct scan_bits *b, huffman_pair e, struct ac_state *s, int16_t *coef)
{
    const uint32_t second = s->k + (e >> PAIR_SECOND & 255);
    if (second >= BLOCK * BLOCK)
        return false;
    if (coef != NULL) {
        const uint32_t bits = last_bits(b, e & 63, e >> PAIR_SIZE);
        coef[natural_order[s->k + (e >> PAIR_FIRST & 255)]] = (int16_t)(e >> PAIR_VALUE);
        coef[natural_order[second]] = (int16_t)((e >> PAIR_BASE) + bits);
    }
    drop(b, e & 63);
    s->k = second + 1;
    return true;
}

INLINE huffman_pair look(const struct scan_bits *b, const struct huffman_ac *t)
{
    uint64_t shift = 64 - AC_BITS;
    /* Hides that it is a constant. The chain from symbol to symbol is then one shrx by a register;
     * by a constant it would be a copy and a shr, as that one overwrites what it shifts. */
    __asm__("" : "+r"(shift));
    return t->pair[b->buffer >> shift];
}

/* The AC coefficients of a block, into `coef` full of zeros; NULL: only past them. *last is the
 * place of the last that is not 0. */
INLINE bool take_ac(struct scan_bits *b, const struct huffman_ac *t, int16_t *coef, uint32_t *last)
{
    struct ac_state s = {.k = 1};
    do {
        huffman_pair e;
        do { /* 2 pairs of up to 26 bits each */
            refill(b);
            e = look(b, t);
            if (!take_pair(b, e, &s, coef))
                break;
            e = look(b, t);
        } while (take_pair(b, e, &s, coef));
        s.last = s.k - 1;
        if (s.k < BLOCK * BLOCK && !special_pair(b, t, e, &s, coef))
            return false;
    } while (s.k < BLOCK * BLOCK);
    if (s.has_zeros && coef != NULL)
        while (s.last > 0 && coef[natural_order[s.last]] == 0)
            s.last--;
    *last = s.last;
    return true;
}

/* The bits after the last MCU: may be negative. */
INLINE int64_t bits_left(const struct scan_bits *b, const uint8_t *end)
{
    return (int64_t)(end - b->p) * 8 + b->count;
}

/* Not memset(), of which some compilers make a slow string instruction. */
INLINE void clear(int16_t *coef)
{
    typedef int64_t vector __attribute__((vector_size(32), may_alias));
    for (size_t i = 0; i < BLOCK * BLOCK * sizeof(*coef) / sizeof(vector); i++)
        ((vector *)coef)[i] = (vector){0};
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
        return take_ac(b, block->ac, NULL, &last);
    if (block->is_flat) {
        coef[0] = (int16_t)*prediction;
        block->idct(coef, block->quant, 0, block->out + mcu * block->step, block->stride);
        return take_ac(b, block->ac, NULL, &last);
    }
    clear(coef);
    coef[0] = (int16_t)*prediction;
    if (!take_ac(b, block->ac, coef, &last))
        return false;
    block->idct(coef, block->quant, last, block->out + mcu * block->step, block->stride);
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
