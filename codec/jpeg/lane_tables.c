/*
 * codec/jpeg/lane_tables.c - makes the tables that lanes look symbols up in.
 *
 * As in huffman.c entries are filled in runs, code by code: an image may bring its own tables, so
 * making them is part of decoding it.
 */
#include "base/cpu.h"
#include "base/simd.h"
#include "codec/jpeg/lanes.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { ONE = 3 << LANE_APART, NONE = 4 << LANE_APART, UNKNOWN = LANE_ODD + 1, NEVER = UINT8_MAX };
enum { LONG_FROM = 0xFC00 }; /* 16 bits that begin with LANE_LONG_BITS ones */

/* A symbol's run and size; of a DC difference the run is 0. */
struct symbol {
    uint32_t run, size;
    bool is_end;
};

INLINE uint64_t place(uint32_t n)
{
    return (uint64_t)n << LANE_PLACE;
}

/* A symbol alone, whose value begins with a 0 (sign 0) or a 1. */
INLINE uint64_t single(uint32_t length, struct symbol y, uint32_t sign)
{
    if (y.is_end)
        return length | ONE | place(LANE_END);
    const uint32_t base = sign != 0 || y.size == 0 ? 0 : (uint32_t)(1 - (1 << y.size)) & 0xFFF;
    return (length + y.size) | ONE | (uint64_t)((1u << y.size) - 1) << LANE_MASK |
           place(y.run + 1) | (uint64_t)base << LANE_BASE;
}

/* A table is filled from the first entry to the last: a run may be written beyond its end, as the
 * next one comes there, so that short ones take no loop. */
enum { CHUNK = 8, ROOM = LANE_ENTRIES + CHUNK };

/* What the entries of a table add as a second symbol, and the bits that tell it. */
struct seconds {
    uint64_t entry[ROOM];
    uint8_t needs[ROOM];
    uint32_t fewest; /* of the bits */
};

struct filling {
    uint64_t *entry;
    struct seconds *second; /* NULL: are not asked for */
    uint32_t most_size;     /* of a value */
    uint64_t other;         /* where there is no symbol */
};

typedef uint64_t chunk __attribute__((vector_size(CHUNK * 8), aligned(8), may_alias));

INLINE void fill(uint64_t *to, uint32_t n, uint64_t e)
{
    const chunk all = {e, e, e, e, e, e, e, e};
    for (uint32_t i = 0; i < n; i += CHUNK)
        *(chunk *)(to + i) = all;
}

INLINE void fill_needs(uint8_t *to, uint32_t n, uint32_t needs)
{
    const uint64_t all = needs * 0x0101010101010101u;
    for (uint32_t i = 0; i < n; i += CHUNK)
        memcpy(to + i, &all, sizeof(all));
}

/* A symbol as the second of a pair: no further than 3 places from the first. */
INLINE void
may_follow(struct seconds *s, uint32_t at, uint32_t n, uint64_t e, struct symbol y, uint32_t needs)
{
    const uint32_t apart = y.is_end ? 1 : y.run + 1;
    const bool may = y.is_end || (y.size > 0 && apart <= 3);
    fill(s->entry + at, n, e - ((uint64_t)apart << LANE_APART));
    fill_needs(s->needs + at, n, may ? needs : NEVER);
    if (may && needs < s->fewest)
        s->fewest = needs;
}

INLINE void
fill_symbol(struct filling *f, uint32_t at, uint32_t n, uint64_t e, struct symbol y, uint32_t needs)
{
    fill(f->entry + at, n, e);
    if (f->second != NULL)
        may_follow(f->second, at, n, e, y, needs);
}

INLINE void fill_other(struct filling *f, uint32_t at, uint32_t n)
{
    fill(f->entry + at, n, f->other);
    if (f->second != NULL)
        fill_needs(f->second->needs + at, n, NEVER);
}

/* A code of `length` bits, whose entries are [at, at + n). */
INLINE void fill_code(struct filling *f, uint32_t at, uint32_t n, uint32_t length, struct symbol y)
{
    const uint32_t half = n / 2;
    if (y.size == 0) {
        fill_symbol(f, at, n, single(length, y, 0), y, length);
    } else if (half == 0 || y.size > f->most_size) { /* no bit for the sign, or beyond the mask */
        fill_other(f, at, n);
    } else {
        fill_symbol(f, at, half, single(length, y, 0), y, length + 1);
        fill_symbol(f, at + half, half, single(length, y, 1), y, length + 1);
    }
}

INLINE struct symbol ac_symbol(uint8_t symbol)
{
    const uint32_t run = symbol >> 4, size = symbol & 15;
    return (struct symbol){run, size, size == 0 && run != 15};
}

/* All entries that begin with this symbol and this value of it: `bits` in front, then any. */
INLINE void
fill_pairs(const struct seconds *s, uint64_t *to, uint32_t bits, uint32_t run, int32_t value)
{
    const uint32_t left = LANE_BITS - bits;
    const uint64_t first = bits | place(run + 1) | (uint64_t)(uint16_t)value << LANE_FIRST;
    for (uint32_t i = 0; i < 1u << left; i++)
        to[i] = s->needs[i << bits] <= left ? s->entry[i << bits] + first : to[i];
}

INLINE void make_pairs(const struct seconds *s, uint64_t *to, const struct huffman_spec *spec)
{
    uint32_t at = 0, n = 0;
    for (uint32_t length = 1; length < LANE_BITS; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++, at += LANE_ENTRIES >> length) {
            const struct symbol y = ac_symbol(spec->symbols[n++]);
            const uint32_t bits = length + y.size;
            if (y.size == 0 || bits + s->fewest > LANE_BITS)
                continue;
            const uint32_t range = LANE_ENTRIES >> bits;
            for (uint32_t v = 0; v < 1u << y.size; v++) {
                const int32_t base = v >> (y.size - 1) ? 0 : 1 - (1 << y.size);
                fill_pairs(s, to + at + v * range, bits, y.run, (int32_t)v + base);
            }
        }
}

INLINE void make_ac(uint64_t *to, const struct huffman_spec *spec)
{
    const uint32_t long_from = LONG_FROM >> (16 - LANE_BITS);
    struct seconds second;
    struct filling f = {to, &second, LANE_MOST_SIZE, ONE | place(UNKNOWN)};
    uint32_t at = 0, n = 0;
    second.fewest = NEVER;
    for (uint32_t length = 1; length <= LANE_BITS; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++, at += LANE_ENTRIES >> length) {
            if (at >= long_from)
                f.other = LANE_LONG_BITS | NONE | LANE_LONG;
            fill_code(&f, at, LANE_ENTRIES >> length, length, ac_symbol(spec->symbols[n++]));
        }
    if (at < long_from)
        fill_other(&f, at, long_from - at);
    f.other = LANE_LONG_BITS | NONE | LANE_LONG;
    at = at < long_from ? long_from : at;
    fill_other(&f, at, LANE_ENTRIES - at);
    make_pairs(&second, to, spec);
}

/* Codes that begin with ones, in the second table: after these. */
INLINE void make_ac_long(uint64_t *to, const struct huffman_spec *spec)
{
    struct filling f = {to, NULL, LANE_MOST_SIZE, ONE | place(UNKNOWN)};
    uint32_t code = 0, n = 0, at = 0; /* code: of 16 bits */
    for (uint32_t length = 1; length <= 16; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++, code += 0x10000u >> length, n++)
            if (code >= LONG_FROM && length > LANE_LONG_BITS) {
                fill_code(&f, at, 0x20000u >> length, length - LANE_LONG_BITS,
                          ac_symbol(spec->symbols[n]));
                at += 0x20000u >> length;
            }
    fill_other(&f, at, LANE_ENTRIES - at);
}

INLINE void make_dc(uint64_t *to, const struct huffman_spec *spec)
{
    struct filling f = {to, NULL, MOST_DC_SIZE, ONE | place(UNKNOWN)};
    uint32_t at = 0, n = 0;
    for (uint32_t length = 1; length <= LANE_BITS; length++)
        for (uint32_t i = 0; i < spec->counts[length]; i++, at += LANE_ENTRIES >> length)
            fill_code(&f, at, LANE_ENTRIES >> length, length,
                      (struct symbol){0, spec->symbols[n++], false});
    fill_other(&f, at, LANE_ENTRIES - at);
}

/* Makes one table; what its last run has written beyond it is put back. */
INLINE void make_table(struct lane_tables *t, uint32_t table,
                       void (*make)(uint64_t *to, const struct huffman_spec *spec),
                       const struct huffman_spec *spec)
{
    uint64_t after[CHUNK], *to = t->entry + table * LANE_ENTRIES;
    memcpy(after, to + LANE_ENTRIES, sizeof(after));
    make(to, spec);
    memcpy(to + LANE_ENTRIES, after, sizeof(after));
}

INLINE void make_all(struct lane_tables *t, uint32_t kind, const struct huffman_spec *ac,
                     const struct huffman_spec *dc)
{
    make_table(t, LANE_AC + kind, make_ac, ac);
    make_table(t, LANE_AC_LONG + kind, make_ac_long, ac);
    make_table(t, LANE_DC + kind, make_dc, dc);
}

#if defined(__x86_64__)
/* A store a chunk. */
AVX512 static void make_all_avx512(struct lane_tables *t, uint32_t kind,
                                   const struct huffman_spec *ac, const struct huffman_spec *dc)
{
    make_all(t, kind, ac, dc);
}
#endif

static void make_kind(struct lane_tables *t, uint32_t kind, const struct huffman_spec *ac,
                      const struct huffman_spec *dc)
{
#if defined(__x86_64__)
    if (cpu_level() == CPU_AVX512) {
        make_all_avx512(t, kind, ac, dc);
        return;
    }
#endif
    make_all(t, kind, ac, dc);
}

bool lane_tables_are(const struct lane_tables *t, uint32_t kind, const struct huffman_spec *ac,
                     const struct huffman_spec *dc)
{
    return t->is_made[kind] && memcmp(ac, &t->made_ac[kind], sizeof(*ac)) == 0 &&
           memcmp(dc, &t->made_dc[kind], sizeof(*dc)) == 0;
}

bool lane_tables_make(struct lane_tables *t, uint32_t kind, const struct huffman_spec *ac,
                      const struct huffman_spec *dc)
{
    if (lane_tables_are(t, kind, ac, dc))
        return true;
    t->is_made[kind] = false;
    if (!huffman_make_ac_code(&t->ac[kind], ac) || !huffman_make_dc_code(&t->dc[kind], dc))
        return false;
    make_kind(t, kind, ac, dc);
    t->made_ac[kind] = *ac;
    t->made_dc[kind] = *dc;
    t->is_made[kind] = true;
    return true;
}
