/* codec/jpeg/recode/jpeg_tables.c - Huffman tables that the JPEGs of a set share. */
#include "codec/jpeg/recode/jpeg_tables.h"

#include <string.h>

enum { DC_SIZES = 12, AC_SIZES = 10, RUNS = 16, END_OF_BLOCK = 0x00, SIXTEEN_ZEROS = 0xF0 };

/* ---- making ------------------------------------------------------------------------------- */

static bool is_dc(uint32_t table)
{
    return table % 2 == 0;
}

static bool is_legal(uint32_t table, uint32_t symbol)
{
    const uint32_t size = symbol % RUNS;
    if (is_dc(table))
        return symbol < DC_SIZES;
    return symbol == END_OF_BLOCK || symbol == SIXTEEN_ZEROS || (size >= 1 && size <= AC_SIZES);
}

/* Each may occur in an image that was not counted. */
static void make_table(struct symbol_spec *spec, uint32_t table, const uint64_t *of)
{
    uint64_t count[SYMBOLS];
    for (uint32_t i = 0; i < SYMBOLS; i++)
        count[i] = is_legal(table, i) ? of[i] + 1 : 0;
    symbol_spec_of_many(spec, count);
}

void jpeg_tables_make(struct jpeg_tables *out, const struct jpeg_counts *counts)
{
    for (uint32_t t = 0; t < WORD_TABLES; t++)
        make_table(&out->spec[t], t, counts->of + t * SYMBOLS);
}

/* ---- text --------------------------------------------------------------------------------- */

static char *put_byte(char *to, uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
    return to;
}

void jpeg_tables_text(const struct jpeg_tables *t, char out[JPEG_TABLES_TEXT])
{
    for (uint32_t table = 0; table < WORD_TABLES; table++) {
        const struct symbol_spec *s = &t->spec[table];
        for (uint32_t i = 1; i <= LONGEST_CODE; i++)
            out = put_byte(out, s->counts[i]);
        for (uint32_t i = 0; i < s->n; i++)
            out = put_byte(out, s->symbols[i]);
    }
    *out = '\0';
}

/* -1: none. */
static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_byte(const char **text, uint8_t *byte)
{
    const int high = digit_of((*text)[0]);
    const int low = high >= 0 ? digit_of((*text)[1]) : -1;
    if (low < 0)
        return false;
    *byte = (uint8_t)(high << 4 | low);
    *text += 2;
    return true;
}

static bool take_symbols(struct symbol_spec *s, uint32_t table, const char **text)
{
    bool seen[SYMBOLS] = {false};
    for (uint32_t i = 0; i < s->n; i++) {
        uint8_t *symbol = &s->symbols[i];
        if (!take_byte(text, symbol) || !is_legal(table, *symbol) || seen[*symbol])
            return false;
        seen[*symbol] = true;
    }
    return true;
}

/* Codes as DHT may have them: none has ones alone. */
static bool take_table(struct symbol_spec *s, uint32_t table, const char **text)
{
    uint32_t code = 0;
    for (uint32_t i = 1; i <= LONGEST_CODE; i++) {
        if (!take_byte(text, &s->counts[i]))
            return false;
        s->n += s->counts[i];
        code = 2 * code + s->counts[i];
        if (code >= 1u << i)
            return false;
    }
    return s->n > 0 && s->n <= SYMBOLS && take_symbols(s, table, text);
}

bool jpeg_tables_read(struct jpeg_tables *out, const char *text)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t t = 0; t < WORD_TABLES; t++)
        if (!take_table(&out->spec[t], t, &text))
            return false;
    return *text == '\0';
}
