/* formats/ctf/ctf_number.h - decimal numbers in text to float and double, correctly rounded.
 *
 *     number = [+-] ( digits [. [digits]] | . digits ) [ (e|E) [+-] digits ]
 *
 * No locale, no nan, inf or hexadecimal. The text needs a readable byte behind it that belongs to
 * no number (a line's end will do), so that no step has to look for the end. */
#ifndef IMREC_FORMATS_CTF_CTF_NUMBER_H
#define IMREC_FORMATS_CTF_CTF_NUMBER_H

#include "base/bytes.h"

/* What stands there: +-digits * 10^power; `cut`: digits has only the first 19, the others are not
 * all 0. */
struct ctf_number {
    uint64_t digits;
    int64_t power;
    bool negative, cut;
};

/* Behind the number at p, or NULL: there is none, or it is not complete. */
const uint8_t *ctf_number_scan(const uint8_t *p, struct ctf_number *out);

enum ctf_rounding { CTF_ROUNDED, CTF_TOO_LARGE };
/* The nearest value, ties to even; below the least one 0. [p, end) is the number's text. */
enum ctf_rounding
ctf_number_float(const struct ctf_number *n, const uint8_t *p, const uint8_t *end, float *out);
enum ctf_rounding
ctf_number_double(const struct ctf_number *n, const uint8_t *p, const uint8_t *end, double *out);
#endif
