/* codec/jpeg/encode/words_scalar.c - the truth of a block's words: T.81, F.1.2. */
#include "codec/jpeg/encode/forward_variants.h"
#include "codec/jpeg/recode/symbol_words.h"

enum { END_OF_BLOCK = 0x00, SIXTEEN_ZEROS = 0xF0, LAST = 63 };

static uint32_t bits_of(int32_t v)
{
    return v == 0 ? 0 : 32 - (uint32_t)__builtin_clz((uint32_t)(v < 0 ? -v : v));
}

/* A value after `run` zeros. */
static uint32_t word_of(uint32_t table, uint32_t run, int32_t v)
{
    const uint32_t bits = bits_of(v);
    const uint32_t extra = (uint32_t)(v - (v < 0)) & ((1u << bits) - 1);
    return table << WORD_TABLE | extra << WORD_VALUE | run << 4 | bits;
}

uint32_t *block_words(const struct scan_block *b, uint32_t *to)
{
    uint32_t last = 0;
    *to++ = word_of(b->dc, 0, b->difference);
    for (uint64_t left = b->occupied & ~(uint64_t)1; left != 0; left &= left - 1) {
        const uint32_t k = (uint32_t)__builtin_ctzll(left);
        uint32_t run = k - last - 1;
        for (; run > 15; run -= 16)
            *to++ = (uint32_t)b->ac << WORD_TABLE | SIXTEEN_ZEROS;
        *to++ = word_of(b->ac, run, b->coef[k]);
        last = k;
    }
    if (last < LAST)
        *to++ = (uint32_t)b->ac << WORD_TABLE | END_OF_BLOCK;
    return to;
}

uint32_t *words_scalar(const struct scan_block *b, uint32_t n, uint32_t *to)
{
    for (uint32_t i = 0; i < n; i++)
        to = block_words(b + i, to);
    return to;
}
