/*
 * codec/webp_tables.c - how much memory the codes of a lossless WebP take.
 *
 * Each 4 x 4 pixels may have codes of their own: up to 65,536 groups of five, for each of which
 * libwebp has tables of 12 to 21 KB, so that a file of 170 KB can ask for 800 MB. How many groups
 * there are is in an image of numbers before the pixels, which is coded as pixels are, after others
 * that transforms need. This walks over all of them and keeps none: a copied number was a literal
 * before, so the literals bound the numbers, and how many different ones there are.
 *
 * RFC 9649, section 3, whose bits are read from the lowest up.
 */
#include "codec/webp_tables.h"

#include <string.h>

enum {
    LITERALS = 256,
    LENGTHS = 24,
    DISTANCES = 40,
    MOST_CACHE_BITS = 11,
    MOST_SYMBOLS = LITERALS + LENGTHS + (1 << MOST_CACHE_BITS),
    LONGEST = 15,
    LENGTH_CODES = 19,
    CODES = 5, /* green with lengths and places in the cache; red, blue, alpha; distances */
};

struct bits {
    struct bytes b;
    uint64_t at; /* bit */
    bool broken; /* or over */
};

/* A canonical code: symbols by length, and by number. */
struct code {
    uint16_t count[LONGEST + 1], symbol[MOST_SYMBOLS];
    bool is_single; /* takes no bits */
};

/* What is known of the numbers of an image. */
struct numbers {
    uint64_t literals;
    uint32_t most;
};

static uint32_t take(struct bits *r, uint32_t n)
{
    uint32_t v = 0;
    for (uint32_t i = 0; i < n; i++, r->at++) {
        const uint64_t byte = r->at / 8;
        if (byte >= r->b.n) {
            r->broken = true;
            return 0;
        }
        v |= (uint32_t)(r->b.p[byte] >> r->at % 8 & 1) << i;
    }
    return v;
}

static uint32_t divided(uint32_t n, uint32_t by_bits)
{
    return (uint32_t)(((uint64_t)n + (1u << by_bits) - 1) >> by_bits);
}

/* ---- codes -------------------------------------------------------------------------------- */

static void make_code(struct bits *r, const uint8_t *lengths, uint32_t n, struct code *c)
{
    uint16_t next[LONGEST + 2] = {0};
    uint32_t room = 1, symbols = 0;
    memset(c->count, 0, sizeof(c->count));
    for (uint32_t i = 0; i < n; i++)
        c->count[lengths[i]]++;
    c->count[0] = 0;
    for (uint32_t k = 1; k <= LONGEST; k++) {
        next[k + 1] = (uint16_t)(next[k] + c->count[k]);
        symbols += c->count[k];
        room = 2 * room < c->count[k] ? 0 : 2 * room - c->count[k];
    }
    for (uint32_t i = 0; i < n; i++)
        if (lengths[i] != 0)
            c->symbol[next[lengths[i]]++] = (uint16_t)i;
    c->is_single = symbols == 1;
    if (!c->is_single && room != 0) /* no code, or too few of them */
        r->broken = true;
}

static uint32_t symbol_of(struct bits *r, const struct code *c)
{
    uint32_t code = 0, first = 0, at = 0;
    if (c->is_single)
        return c->symbol[0];
    for (uint32_t k = 1; k <= LONGEST && !r->broken; k++) {
        code |= take(r, 1);
        if (code - first < c->count[k])
            return c->symbol[at + code - first];
        at += c->count[k];
        first = (first + c->count[k]) << 1;
        code <<= 1;
    }
    r->broken = true;
    return 0;
}

/* One or two symbols. */
static void read_simple(struct bits *r, uint8_t *lengths, uint32_t n)
{
    const uint32_t two = take(r, 1), first_bits = take(r, 1) ? 8 : 1;
    const uint32_t a = take(r, first_bits), b = two ? take(r, 8) : a;
    if (a >= n || b >= n)
        r->broken = true;
    else
        lengths[a] = lengths[b] = 1;
}

/* Lengths, themselves coded. */
static void read_lengths(struct bits *r, uint8_t *lengths, uint32_t n)
{
    static const uint8_t order[LENGTH_CODES] = {17, 18, 0, 1,  2,  3,  4,  5,  16, 6,
                                                7,  8,  9, 10, 11, 12, 13, 14, 15};
    static const uint8_t extra[3] = {2, 3, 7}, least[3] = {3, 3, 11};
    uint8_t of_lengths[LENGTH_CODES] = {0}, before = 8;
    struct code c;
    const uint32_t given = take(r, 4) + 4;
    for (uint32_t i = 0; i < given && i < LENGTH_CODES; i++)
        of_lengths[order[i]] = (uint8_t)take(r, 3);
    uint32_t left = n;
    if (take(r, 1))
        left = 2 + take(r, 2 + 2 * take(r, 3));
    make_code(r, of_lengths, LENGTH_CODES, &c);
    r->broken = r->broken || left > n;
    for (uint32_t i = 0; i < n && left-- > 0 && !r->broken;) {
        const uint32_t s = symbol_of(r, &c);
        const uint8_t value = s < 16 ? (uint8_t)s : s == 16 ? before : 0;
        uint32_t times = s < 16 ? 1 : least[s - 16] + take(r, extra[s - 16]);
        if (s < 16 && s != 0)
            before = (uint8_t)s;
        if (times > n - i)
            r->broken = true;
        for (; times > 0 && i < n; times--)
            lengths[i++] = value;
    }
}

static void read_code(struct bits *r, uint32_t n, struct code *c)
{
    uint8_t lengths[MOST_SYMBOLS] = {0};
    if (take(r, 1))
        read_simple(r, lengths, n);
    else
        read_lengths(r, lengths, n);
    make_code(r, lengths, n, c);
}

/* ---- images ------------------------------------------------------------------------------- */

static uint64_t prefixed(struct bits *r, uint32_t symbol)
{
    if (symbol < 4)
        return symbol + 1;
    const uint32_t extra = (symbol - 2) >> 1;
    return ((uint64_t)(2 + (symbol & 1)) << extra) + take(r, extra) + 1;
}

static uint32_t read_cache_bits(struct bits *r)
{
    const uint32_t n = take(r, 1) ? take(r, 4) : 0;
    if (n > MOST_CACHE_BITS)
        r->broken = true;
    return r->broken ? 0 : n;
}

static void
walk_pixels(struct bits *r, const struct code c[CODES], uint64_t pixels, struct numbers *n)
{
    for (uint64_t at = 0; at < pixels && !r->broken;) {
        const uint32_t green = symbol_of(r, &c[0]);
        if (green >= LITERALS && green < LITERALS + LENGTHS) {
            at += prefixed(r, green - LITERALS);
            (void)prefixed(r, symbol_of(r, &c[4]));
            continue;
        }
        at++;
        if (green >= LITERALS)
            continue;
        const uint32_t number = symbol_of(r, &c[1]) << 8 | green;
        (void)symbol_of(r, &c[2]);
        (void)symbol_of(r, &c[3]);
        n->literals++;
        n->most = number > n->most ? number : n->most;
    }
}

/* An image that is not the one of the pixels. Its codes take 24 KB of the stack. */
static struct numbers walk_image(struct bits *r, uint32_t width, uint32_t height)
{
    struct code c[CODES];
    struct numbers n = {0, 0};
    const uint32_t cache_bits = read_cache_bits(r);
    const uint32_t cached = cache_bits != 0 ? 1u << cache_bits : 0;
    const uint32_t symbols[CODES] = {LITERALS + LENGTHS + cached, LITERALS, LITERALS, LITERALS,
                                     DISTANCES};
    for (int i = 0; i < CODES; i++)
        read_code(r, symbols[i], &c[i]);
    walk_pixels(r, c, (uint64_t)width * height, &n);
    return n;
}

/* Transforms; of 2, 4 or 16 colours several pixels become one. */
static void walk_transforms(struct bits *r, uint32_t *width, uint32_t height)
{
    enum { SUBTRACT_GREEN = 2, COLOURS = 3 };
    for (uint32_t i = 0; i < 4 && take(r, 1); i++) {
        const uint32_t type = take(r, 2);
        if (type == SUBTRACT_GREEN)
            continue;
        if (type != COLOURS) {
            const uint32_t size_bits = take(r, 3) + 2;
            (void)walk_image(r, divided(*width, size_bits), divided(height, size_bits));
            continue;
        }
        const uint32_t n = take(r, 8) + 1;
        *width = divided(*width, n > 16 ? 0 : n > 4 ? 1 : n > 2 ? 2 : 3);
        (void)walk_image(r, n, 1);
    }
}

uint64_t webp_tables_bytes(struct bytes data, uint32_t width, uint32_t height)
{
    /* libwebp: a group's tables but for the cache's symbols, in entries of 4 bytes; and a struct.
     * Numbers up to 1000 are places in a table; above, only those that occur are. */
    enum { ENTRIES = 630 * 3 + 410 + 656, ENTRY = 4, GROUP = 640, PLACES = 1000 };
    struct bits r = {.b = data};
    uint64_t groups = 1, blocks = 0;
    walk_transforms(&r, &width, height);
    const uint32_t cache_bits = read_cache_bits(&r);
    if (take(&r, 1)) {
        const uint32_t size_bits = take(&r, 3) + 2;
        const uint32_t across = divided(width, size_bits), down = divided(height, size_bits);
        const struct numbers n = walk_image(&r, across, down);
        groups = n.most < PLACES ? (uint64_t)n.most + 1 : n.literals;
        groups = groups < 1 << 16 ? groups : 1 << 16;
        blocks = (uint64_t)across * down;
    }
    if (r.broken)
        return 0;
    return groups * (ENTRY * (uint64_t)(ENTRIES + (1u << cache_bits)) + GROUP) + 4 * blocks +
           4 * (1 << 16);
}
