/* formats/ctf/ctf_number.h - decimal numbers in text to float and double, correctly rounded.
 *
 *     number = [+-] ( digits [. [digits]] | . digits ) [ (e|E) [+-] digits ]
 *
 * No locale, no nan, inf or hexadecimal. A readable byte that belongs to no number (a line end will
 * do) must follow the text, so that no step has to check for the end. */
#ifndef IMREC_FORMATS_CTF_CTF_NUMBER_H
#define IMREC_FORMATS_CTF_CTF_NUMBER_H

#include "base/bytes.h"

/* The digits of a number: +-digits * 10^power; `cut`: digits has only the first 19, and the others
 * are not all 0. */
struct ctf_number {
    uint64_t digits;
    int64_t power;
    bool negative, cut;
};

/* The end of the number at p, or NULL: there is none, or it is not complete. */
const uint8_t *ctf_number_scan(const uint8_t *p, struct ctf_number *out);

enum ctf_rounding { CTF_ROUNDED, CTF_TOO_LARGE };
/* The nearest value, ties to even; below the smallest one 0. [p, end) is the number's text. */
enum ctf_rounding
ctf_number_float(const struct ctf_number *n, const uint8_t *p, const uint8_t *end, float *out);
enum ctf_rounding
ctf_number_double(const struct ctf_number *n, const uint8_t *p, const uint8_t *end, double *out);
#endif
