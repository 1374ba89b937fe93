/* formats/text.h - what every text format needs: lines, numbers, and quoting for messages.
 * None of it depends on the locale. */
#ifndef IMREC_FORMATS_TEXT_H
#define IMREC_FORMATS_TEXT_H

#include "base/bytes.h"

/* Lines of a text that may come in pieces, each piece whole lines or the last one.
 * LF, CRLF and CR end a line, also mixed; the last one need not be ended. A byte order mark
 * at offset 0 is no part of the first line. */
struct text_lines {
    struct bytes rest;     /* of the piece */
    const uint8_t *lf;     /* next LF at or after rest.p, or the piece's end: found once */
    uint64_t number;       /* of the last line returned, from 1 */
    uint64_t offset, next; /* in the file: of the last line returned, of the next */
    bool after_cr;         /* an LF at the start belongs to the line before */
};

/* Begins at `offset` of a file (0, or the place text_sync() found), after `lines_before` lines. */
void text_lines_begin(struct text_lines *t, struct bytes piece, uint64_t offset,
                      uint64_t lines_before);
/* The next piece, once text_lines_next() has returned false. */
void text_lines_feed(struct text_lines *t, struct bytes piece);
/* The next line without its end, blank ones too. False: the piece is used up. */
bool text_lines_next(struct text_lines *t, struct bytes *line);
/* How many bytes of p[0..n) are complete lines: where a piece can be cut. */
size_t text_whole_lines(const uint8_t *p, size_t n);

/* Finds a partition's first line by the rule of dmlc-core: after the first line end at or after the
 * cut, and all line ends that follow it. At least one line is skipped, and a line that begins
 * exactly at the cut belongs to the partition before.
 * Feed the bytes from the cut on, with *state = TEXT_SYNC_LINE at first, until the state is
 * TEXT_SYNC_DONE or the file ends; the sum of what is returned is the shift. */
enum text_sync_state { TEXT_SYNC_LINE, TEXT_SYNC_ENDS, TEXT_SYNC_DONE };
size_t text_sync(const uint8_t *p, size_t n, enum text_sync_state *state);

static inline bool text_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static inline bool text_is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

/* Bytes of the byte order mark of UTF-8 that p[0..n) begins with: 3, or 0. */
size_t text_mark(const uint8_t *p, size_t n);

/* b without the blanks and tabs around it. */
struct bytes text_trim(struct bytes b);
/* Cuts the first word off: the text before the first blank or tab. Empty: there is none. */
struct bytes text_word(struct bytes *rest);

bool text_is_utf8(struct bytes b);

/* b for a message: in quotes, shortened, as base/shown.h shows it. */
struct text_quote {
    char s[72];
};
struct text_quote text_quote(struct bytes b);

extern const double text_powers[23]; /* of ten, exact */
/* Decimal digits only, all of b. False: empty, another byte, or above 2^64 - 1. */
bool text_to_u64(struct bytes b, uint64_t *out);
/* Writes v without a NUL and returns how many bytes, at most 20. */
size_t text_from_u64(uint64_t v, char out[20]);

/* All of b as a number: [+-] digits [. digits] [e [+-] digits], inf, infinity or nan in any
 * case. Rounded to the nearest float, ties to even, whatever the number of digits. */
enum text_float { TEXT_FLOAT_OK, TEXT_FLOAT_MALFORMED, TEXT_FLOAT_TOO_LARGE };
enum text_float text_to_float(struct bytes b, float *out);
/* The same to the nearest double. (Digits after the first 120 only matter as zero or not.) */
enum text_float text_to_double(struct bytes b, double *out);
/* Whether v, which one of these made of b, is exactly b where b is a whole number: floats have
 * every whole number up to 2^24 and doubles up to 2^53, beyond that not all of them. Fractions and
 * numbers of more than 20 digits, which are rounded, infinities and NaN pass. `v` of a float is
 * that float as a double. */
bool text_keeps_whole(struct bytes b, double v);
/* A whole number, written in any of these ways, from -2^63 to 2^63 - 1. False: b is not one. */
bool text_to_i64(struct bytes b, int64_t *out);
/* As MXNet's "%f" (six decimals) where that reads back as v, else the shortest
 * "d.ddde+-dd" that does. Without a NUL; returns how many bytes, at most TEXT_FLOAT_BYTES. */
#define TEXT_FLOAT_BYTES 48
size_t text_from_float(float v, char out[TEXT_FLOAT_BYTES]);
#endif
