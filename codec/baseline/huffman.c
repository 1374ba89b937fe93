/*
 * codec/baseline/huffman.c - makes the tables that blocks.h looks up.
 *
 * A picture brings its own, so this is part of decoding: first[] (the symbol at the front of every
 * combination of bits) is filled in runs, everything else is looked up in it.
 */
#include "codec/baseline/huffman.h"

#include <string.h>

enum { FIRST_MASK = (1 << FIRST_BITS) - 1 };

/* length << 8 | symbol; 0 = a longer code, or none */
typedef uint16_t firsts[1 << FIRST_BITS];

/* Canonical codes count upwards; one of all ones is not allowed. */
static bool make_code(struct huffman_code *c, const struct huffman_spec *spec)
{
    uint32_t code = 0, n = 0;
    for (uint32_t length = 1; length <= 16; length++, code <<= 1) {
        const uint32_t count = spec->counts[length];
        c->offset[length] = (int32_t)n - (int32_t)code;
        code += count;
        n += count;
        if (n > 256 || (count > 0 && code >= 1u << length))
            return false;
        c->limit[length] = code << (16 - length);
    }
    memcpy(c->symbols, spec->symbols, sizeof(c->symbols));
    return n > 0;
}

static void make_firsts(uint16_t *first, uint32_t bits, const struct huffman_spec *spec)
{
    uint32_t at = 0, symbol = 0;
    for (uint32_t length = 1; length <= bits; length++) {
        const uint32_t repeat = 1u << (bits - length);
        for (uint32_t i = 0; i < spec->counts[length]; i++, symbol++)
            for (uint32_t end = at + repeat; at < end; at++)
                first[at] = (uint16_t)(length << 8 | spec->symbols[symbol]);
    }
    memset(first + at, 0, ((1u << bits) - at) * sizeof(*first));
}

static bool is_end(uint32_t symbol) /* of the block; as libjpeg: any run but 15 of no value */
{
    return (symbol & 15) == 0 && symbol != 0xF0;
}

/* The value that stands in the `size` bits at the front of `bits` (AC_BITS of them). */
static int32_t value_of(uint32_t bits, uint32_t size)
{
    const int32_t v = (int32_t)(bits >> (AC_BITS - size));
    return v >> (size - 1) ? v : v - (1 << size) + 1;
}

static uint32_t pair_last(uint32_t bits, uint32_t from, uint32_t symbol)
{
    const uint32_t size = symbol & 15;
    if (is_end(symbol))
        return bits | (uint32_t)PAIR_END << 6;
    return (bits + size) | (from + (symbol >> 4)) << 6 | size << 16;
}

static uint32_t pair_at(const uint16_t *first, uint32_t i)
{
    const uint32_t length = first[i] >> 8, symbol = first[i] & 255;
    const uint32_t run = symbol >> 4, size = symbol & 15, used = length + size;
    if (length == 0)
        return (uint32_t)PAIR_END << 6;
    if (size == 0 || used > AC_BITS)
        return pair_last(length, 0, symbol);
    const uint32_t rest = i << used & FIRST_MASK;
    const uint32_t next = first[rest] >> 8;
    if (next == 0 || used + next > AC_BITS)
        return pair_last(length, 0, symbol);
    const int32_t value = value_of(i << length & FIRST_MASK, size);
    return pair_last(used + next, run + 1, first[rest] & 255) | run << 12 | (uint32_t)value << 20;
}

static uint16_t skip_at(const uint16_t *first, uint32_t i)
{
    uint32_t bits = 0, taken = 0;
    while (bits < AC_BITS) {
        const uint32_t next = first[i << bits & FIRST_MASK], length = next >> 8;
        const uint32_t symbol = next & 255;
        if (length == 0 || bits + length > AC_BITS)
            break;
        bits += length;
        if (is_end(symbol)) {
            taken += SKIP_END;
            break;
        }
        bits += symbol & 15;
        taken += (symbol >> 4) + 1;
    }
    return (uint16_t)(bits == 0 ? SKIP_LONG << 6 : bits | taken << 6);
}

bool huffman_make_ac(struct huffman_ac *t, const struct huffman_spec *spec)
{
    firsts first;
    if (!make_code(&t->code, spec))
        return false;
    make_firsts(first, AC_BITS, spec);
    for (uint32_t i = 0; i < 1u << AC_BITS; i++) {
        t->pair[i] = pair_at(first, i);
        t->skip[i] = skip_at(first, i);
    }
    return true;
}

bool huffman_make_dc(struct huffman_dc *t, const struct huffman_spec *spec)
{
    firsts first;
    if (!make_code(&t->code, spec))
        return false;
    for (uint32_t length = 1, n = 0; length <= 16; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++)
            if (spec->symbols[n++] > MOST_DC_SIZE)
                return false;
    make_firsts(first, DC_BITS, spec);
    for (uint32_t i = 0; i < 1u << DC_BITS; i++) {
        const uint32_t length = first[i] >> 8, size = first[i] & 255;
        t->entry[i] = (uint16_t)(length == 0 ? 0 : (length + size) | size << 6);
    }
    return true;
}
