/* base/shown.h - text out of files as it may be shown: in messages, on terminals, in pages.
 *
 * Names may hold anything. What moves a cursor, colours a line, turns the direction of reading or
 * ends a line becomes visible: "\x1b" for a byte (controls, and bytes that are no UTF-8), "\u202e"
 * for a character (C1 controls, bidirectional controls, line and paragraph separators, byte
 * order marks). All other characters stay, a backslash too: what was made visible once stays as it
 * is. */
#ifndef IMREC_BASE_SHOWN_H
#define IMREC_BASE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed UTF-8 sequence at p[0..n), n > 0, or 0: no overlong form, no surrogate,
 * at most U+10FFFF. */
size_t utf8_sequence(const uint8_t *p, size_t n);

#define SHOWN_BYTES 7 /* of one character, NUL included */

/* What text[0..n), n > 0, begins with as it may be shown, NUL-terminated; returns how many bytes of
 * the text that is. */
size_t shown_next(const char *text, size_t n, char out[SHOWN_BYTES]);
/* Whether all of it is shown as it is. */
bool shown_as_is(const char *text);
/* The text as it may be shown, in at most `room` bytes, NUL included, cut between two characters.
 */
void shown_copy(char *to, size_t room, const char *text);
/* Takes out of URLs in the text what may be a secret: a name with a password before the host, and
 * of "http://" and "https://" also a name alone, and all from the first '?' or '#' on. A URL ends
 * at a blank, or at a quotation mark before a blank, a comma, a stop or the end. */
void shown_hide_secrets(char *text);

#endif
