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

/* A subtree as one number: the smallest is the rarest, and of equal ones the last. */
enum { KEY_COUNT = 9 };

struct tree {
    int16_t next[LEAVES]; /* the next leaf of the same subtree, or -1 */
    uint8_t bits[LEAVES];
    uint64_t heap[LEAVES]; /* count << KEY_COUNT | RESERVED - its first leaf */
    uint32_t n;
};

static uint16_t first_leaf(uint64_t key)
{
    return (uint16_t)(RESERVED - (key & ((1u << KEY_COUNT) - 1)));
}

/* Puts `key` where heap[i] was, and then where it belongs. */
static void sift(struct tree *t, uint32_t i, uint64_t key)
{
    for (uint32_t child; (child = 2 * i + 1) < t->n; i = child) {
        if (child + 1 < t->n && t->heap[child + 1] < t->heap[child])
            child++;
        if (t->heap[child] >= key)
            break;
        t->heap[i] = t->heap[child];
    }
    t->heap[i] = key;
}

static void tree_begin(struct tree *t, const uint64_t count[SYMBOLS])
{
    memset(t->next, 0xFF, sizeof(t->next));
    memset(t->bits, 0, sizeof(t->bits));
    t->n = 0;
    for (uint32_t i = 0; i < SYMBOLS; i++)
        if (count[i] != 0)
            t->heap[t->n++] = count[i] << KEY_COUNT | (RESERVED - i);
    t->heap[t->n++] = 1 << KEY_COUNT; /* gets the code of ones alone, which is then taken away */
    for (uint32_t i = t->n / 2; i-- > 0;)
        sift(t, i, t->heap[i]);
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
    while (t->n > 1) {
        const uint64_t first = t->heap[0];
        t->n--;
        sift(t, 0, t->heap[t->n]);
        const uint64_t second = t->heap[0];
        t->next[deepen(t, first_leaf(first))] = (int16_t)first_leaf(second);
        (void)deepen(t, first_leaf(second));
        sift(t, 0, first + (second >> KEY_COUNT << KEY_COUNT));
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

/* By the length they had in the tree, then by number. */
static void order_symbols(struct symbol_spec *spec, const struct tree *t,
                          const uint32_t lengths[LONGEST_TREE + 1])
{
    uint32_t at[LONGEST_TREE + 1] = {0};
    for (uint32_t n = 1; n < LONGEST_TREE; n++)
        at[n + 1] = at[n] + lengths[n];
    for (uint32_t i = 0; i < SYMBOLS; i++)
        if (t->bits[i] != 0) {
            spec->symbols[at[t->bits[i]]++] = (uint8_t)i;
            spec->n++;
        }
}

bool symbol_spec_optimal(struct symbol_spec *spec, const uint64_t count[SYMBOLS])
{
    uint32_t lengths[LONGEST_TREE + 1] = {0}, in_tree[LONGEST_TREE + 1];
    struct tree t;
    memset(spec, 0, sizeof(*spec));
    tree_begin(&t, count);
    if (t.n == 1) /* no symbol at all */
        return true;
    tree_build(&t);
    for (uint32_t i = 0; i < LEAVES; i++) {
        if (t.bits[i] > LONGEST_TREE)
            return false;
        lengths[t.bits[i]] += i != RESERVED && t.bits[i] != 0;
    }
    memcpy(in_tree, lengths, sizeof(in_tree));
    lengths[t.bits[RESERVED]]++;
    shorten(lengths);
    for (uint32_t n = 1; n <= LONGEST_CODE; n++)
        spec->counts[n] = (uint8_t)lengths[n];
    order_symbols(spec, &t, in_tree);
    return true;
}

void symbol_spec_of_many(struct symbol_spec *spec, uint64_t count[SYMBOLS])
{
    while (!symbol_spec_optimal(spec, count))
        for (uint32_t i = 0; i < SYMBOLS; i++)
            count[i] -= count[i] / 2;
}

void symbol_entries_make(uint32_t entry[SYMBOLS], const struct symbol_spec *spec)
{
    uint32_t code = 0, k = 0;
    memset(entry, 0, SYMBOLS * sizeof(*entry));
    for (uint32_t n = 1; n <= LONGEST_CODE; n++, code <<= 1)
        for (uint32_t i = 0; i < spec->counts[n]; i++, k++) {
            const uint32_t size = spec->symbols[k] & 15;
            entry[spec->symbols[k]] = code++ << (size + 5) | (n + size);
        }
}
