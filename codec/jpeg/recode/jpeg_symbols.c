/* codec/jpeg/recode/jpeg_symbols.c - Huffman-coded symbols of a scan, and optimal codes for them.
 */
#include "codec/jpeg/recode/jpeg_symbols.h"

#include <string.h>

static uint16_t entry_of(uint8_t symbol, uint32_t bits)
{
    return (uint16_t)(symbol << 8 | (bits + (symbol & 15)));
}

bool symbol_reader_make(struct symbol_reader *r, const struct symbol_spec *spec)
{
    uint32_t code = 0, k = 0;
    memset(r->entry, 0, sizeof(r->entry));
    memcpy(r->symbols, spec->symbols, sizeof(r->symbols));
    for (uint32_t n = 1; n <= LONGEST_CODE; n++) {
        r->offset[n] = (int32_t)k - (int32_t)code;
        if (code + spec->counts[n] > 1u << n)
            return false;
        for (uint32_t i = 0; i < spec->counts[n]; i++, code++, k++) {
            if (n > SYMBOL_BITS)
                continue;
            const uint32_t first = code << (SYMBOL_BITS - n);
            for (uint32_t j = 0; j < 1u << (SYMBOL_BITS - n); j++)
                r->entry[first + j] = entry_of(spec->symbols[k], n);
        }
        r->limit[n] = code << (LONGEST_CODE - n);
        code <<= 1;
    }
    return true;
}

uint32_t symbol_long(const struct symbol_reader *r, uint32_t bits16)
{
    for (uint32_t n = SYMBOL_BITS + 1; n <= LONGEST_CODE; n++)
        if (bits16 < r->limit[n]) {
            const int32_t k = (int32_t)(bits16 >> (LONGEST_CODE - n)) + r->offset[n];
            return entry_of(r->symbols[k & 255], n);
        }
    return 0;
}

/* ---- optimal codes ----------------------------------------------------------------------- */

enum { LONGEST_TREE = 32, RESERVED = SYMBOLS, LEAVES = SYMBOLS + 1 };

struct tree {
    uint64_t count[LEAVES];
    int16_t next[LEAVES]; /* the next leaf of the same subtree, or -1 */
    uint8_t bits[LEAVES];
    uint16_t leaf[LEAVES]; /* those that occur, ascending; a subtree is its first leaf */
    uint32_t leaves;
};

static void tree_begin(struct tree *t, const uint64_t count[SYMBOLS])
{
    memset(t, 0, sizeof(*t));
    for (uint16_t i = 0; i < SYMBOLS; i++)
        if ((t->count[i] = count[i]) != 0)
            t->leaf[t->leaves++] = i;
    t->count[RESERVED] = 1; /* gets the code of ones alone, which is then taken away */
    t->leaf[t->leaves++] = RESERVED;
    memset(t->next, 0xFF, sizeof(t->next));
}

/* The rarest, of equal ones the last, but not leaf[except]. */
static uint32_t rarest(const struct tree *t, uint32_t except)
{
    uint32_t best = UINT32_MAX;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < t->leaves; i++)
        if (i != except && t->count[t->leaf[i]] <= least) {
            least = t->count[t->leaf[i]];
            best = i;
        }
    return best;
}

/* All leaves of a subtree are a bit deeper; returns the last of them. */
static uint16_t deepen(struct tree *t, uint16_t leaf)
{
    t->bits[leaf]++;
    while (t->next[leaf] >= 0) {
        leaf = (uint16_t)t->next[leaf];
        t->bits[leaf]++;
    }
    return leaf;
}

static void tree_build(struct tree *t)
{
    while (t->leaves > 1) {
        const uint32_t a = rarest(t, UINT32_MAX), b = rarest(t, a);
        const uint16_t first = t->leaf[a], second = t->leaf[b];
        t->count[first] += t->count[second];
        t->next[deepen(t, first)] = (int16_t)second;
        (void)deepen(t, second);
        t->leaves--;
        memmove(t->leaf + b, t->leaf + b + 1, (t->leaves - b) * sizeof(t->leaf[0]));
    }
}

/* Codes of more than 16 bits are shortened in pairs, at the cost of a shorter one (K.2). */
static void shorten(uint32_t lengths[LONGEST_TREE + 1])
{
    for (uint32_t n = LONGEST_TREE; n > LONGEST_CODE; n--)
        while (lengths[n] > 0) {
            uint32_t shorter = n - 2;
            while (lengths[shorter] == 0)
                shorter--;
            lengths[n] -= 2;
            lengths[n - 1]++;
            lengths[shorter + 1] += 2;
            lengths[shorter]--;
        }
    uint32_t n = LONGEST_CODE;
    while (lengths[n] == 0)
        n--;
    lengths[n]--; /* the code of ones alone */
}

bool symbol_spec_optimal(struct symbol_spec *spec, const uint64_t count[SYMBOLS])
{
    uint32_t lengths[LONGEST_TREE + 1] = {0};
    struct tree t;
    memset(spec, 0, sizeof(*spec));
    tree_begin(&t, count);
    if (t.leaves == 1) /* no symbol at all */
        return true;
    tree_build(&t);
    for (uint32_t i = 0; i < LEAVES; i++) {
        if (t.bits[i] > LONGEST_TREE)
            return false;
        lengths[t.bits[i]] += t.bits[i] != 0;
    }
    shorten(lengths);
    for (uint32_t n = 1; n <= LONGEST_CODE; n++)
        spec->counts[n] = (uint8_t)lengths[n];
    for (uint32_t n = 1; n <= LONGEST_TREE; n++) /* by the length they had, then by number */
        for (uint32_t i = 0; i < SYMBOLS; i++)
            if (t.bits[i] == n)
                spec->symbols[spec->n++] = (uint8_t)i;
    return true;
}

void symbol_writer_make(struct symbol_writer *w, const struct symbol_spec *spec)
{
    uint32_t code = 0, k = 0;
    memset(w->entry, 0, sizeof(w->entry));
    for (uint32_t n = 1; n <= LONGEST_CODE; n++, code <<= 1)
        for (uint32_t i = 0; i < spec->counts[n]; i++, k++) {
            const uint32_t size = spec->symbols[k] & 15;
            w->entry[spec->symbols[k]] = code++ << (size + 5) | (n + size);
        }
}
