/*
 * codec/jpeg/huffman.c - makes the tables that blocks.h looks up.
 *
 * An image may bring its own tables, so this is part of decoding it and has to be quick: entries
 * are filled in runs, code by code, which works because canonical codes count upwards.
 */
#include "codec/jpeg/huffman.h"

#include <string.h>

enum { AC_ENTRIES = 1 << AC_BITS };

/* One of all ones is not allowed. */
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

static bool is_end(uint32_t symbol) /* of the block; as libjpeg: any run but 15 of no value */
{
    return (symbol & 15) == 0 && symbol != 0xF0;
}

/* What `size` bits that begin with a 0 (with_sign 0) or a 1 are to be added to. */
static int16_t base_of(uint32_t size, uint32_t sign)
{
    return (int16_t)(sign != 0 || size == 0 ? 0 : 1 - (1 << size));
}

static huffman_pair single(uint32_t length, uint32_t symbol, uint32_t sign)
{
    const uint32_t size = symbol & 15;
    return (length + size) | (uint64_t)(is_end(symbol) ? PAIR_END : symbol >> 4) << PAIR_SECOND |
           (uint64_t)size << PAIR_SIZE | (uint64_t)(uint16_t)base_of(size, sign) << PAIR_BASE;
}

/* What is known by one symbol in front, and the bits that tell it. */
struct fronts {
    huffman_pair singles[AC_ENTRIES];
    uint8_t needs[AC_ENTRIES];
};

static void fill(struct fronts *f, uint32_t at, uint32_t n, huffman_pair p, uint32_t needs)
{
    for (uint32_t i = at; i < at + n; i++) { /* of a few entries mostly: no memset() */
        f->singles[i] = p;
        f->needs[i] = (uint8_t)needs;
    }
}

static void make_singles(struct fronts *f, const struct huffman_spec *spec)
{
    const huffman_pair unknown = (uint64_t)PAIR_LONG << PAIR_SECOND;
    uint32_t at = 0, n = 0;
    for (uint32_t length = 1; length <= AC_BITS; length++) {
        const uint32_t range = AC_ENTRIES >> length, half = range / 2;
        for (uint32_t i = 0; i < spec->counts[length]; i++, at += range) {
            const uint32_t symbol = spec->symbols[n++];
            if (is_end(symbol)) {
                fill(f, at, range, single(length, symbol, 0), length);
            } else if (half == 0 || (symbol & 15) == 0) { /* no bit for the sign, or no value */
                fill(f, at, range, unknown, UINT8_MAX);
            } else {
                fill(f, at, half, single(length, symbol, 0), length + 1);
                fill(f, at + half, half, single(length, symbol, 1), length + 1);
            }
        }
    }
    fill(f, at, AC_ENTRIES - at, unknown, UINT8_MAX);
}

/* All entries that begin with this symbol and this value of it: `bits` in front, then any. */
static void
fill_pairs(huffman_pair *out, const struct fronts *f, uint32_t bits, uint32_t run, int32_t value)
{
    const uint32_t left = AC_BITS - bits;
    const huffman_pair first = bits | (uint64_t)(run + 1) << PAIR_SECOND |
                               (uint64_t)run << PAIR_FIRST |
                               (uint64_t)(uint16_t)value << PAIR_VALUE;
    for (uint32_t i = 0; i < 1u << left; i++)
        if (f->needs[i << bits] <= left)
            out[i] = f->singles[i << bits] + first;
}

static void make_pairs(huffman_pair *out, const struct fronts *f, const struct huffman_spec *spec)
{
    uint32_t at = 0, n = 0;
    memcpy(out, f->singles, sizeof(f->singles));
    for (uint32_t length = 1; length < AC_BITS; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++, at += AC_ENTRIES >> length) {
            const uint32_t symbol = spec->symbols[n++], size = symbol & 15, bits = length + size;
            if (size == 0 || bits >= AC_BITS)
                continue;
            const uint32_t range = AC_ENTRIES >> bits;
            for (uint32_t v = 0; v < 1u << size; v++)
                fill_pairs(out + at + v * range, f, bits, symbol >> 4,
                           (int32_t)v + base_of(size, v >> (size - 1)));
        }
}

bool huffman_make_ac(struct huffman_ac *t, const struct huffman_spec *spec)
{
    struct fronts f;
    if (!make_code(&t->code, spec))
        return false;
    make_singles(&f, spec);
    make_pairs(t->pair, &f, spec);
    return true;
}

static void make_differences(struct huffman_difference *out, const struct huffman_spec *spec)
{
    uint32_t at = 0, n = 0;
    for (uint32_t length = 1; length < DC_BITS; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++) {
            const uint32_t size = spec->symbols[n++], end = at + ((1u << DC_BITS) >> length);
            for (uint32_t half = (at + end) / 2; at < end; at++)
                out[at] = (struct huffman_difference){(uint8_t)(length + size), (uint8_t)size,
                                                      base_of(size, at >= half)};
        }
    memset(out + at, 0, ((1u << DC_BITS) - at) * sizeof(*out));
}

bool huffman_make_dc_code(struct huffman_code *c, const struct huffman_spec *spec)
{
    if (!make_code(c, spec))
        return false;
    for (uint32_t length = 1, n = 0; length <= 16; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++)
            if (spec->symbols[n++] > MOST_DC_SIZE)
                return false;
    return true;
}

bool huffman_make_ac_code(struct huffman_code *c, const struct huffman_spec *spec)
{
    return make_code(c, spec);
}

bool huffman_make_dc(struct huffman_dc *t, const struct huffman_spec *spec)
{
    if (!huffman_make_dc_code(&t->code, spec))
        return false;
    make_differences(t->entry, spec);
    return true;
}
