/* formats/ctf/ctf_values_loops.h - the loops of ctf_values.h over one way to read a number. The
 * including file defines LOOP (the specifiers of a function), SCAN(at, out): a number and what ends
 * it, or NULL, and RUN(p, to, most, element): single digits with single blanks, how many.
 */
#include "formats/ctf/ctf_fast.h"

LOOP uint32_t dense_values(const uint8_t **at, const uint8_t *safe, uint8_t *to, uint32_t most,
                           size_t element)
{
    const uint8_t *p = *at;
    struct ctf_fast n;
    uint32_t i = 0;
    while (i < most && p < safe) {
        const uint32_t run = RUN(p, to + i * element, most - i, element);
        if (run != 0) {
            i += run;
            p = ctf_behind_blanks(p + 2 * (size_t)run);
            continue;
        }
        const uint8_t *end = SCAN(p, &n);
        if (end == NULL || !ctf_fast_put(&n, to + i * element, element))
            break;
        i++;
        p = ctf_behind_blanks(end);
    }
    *at = p;
    return i;
}

LOOP uint32_t sparse_values(const uint8_t **at, const uint8_t *safe, uint8_t *values,
                            uint8_t *indices, uint32_t dim, size_t element)
{
    const uint8_t *p = *at;
    struct ctf_fast n;
    uint64_t v;
    uint32_t i = 0;
    for (; p < safe; i++) {
        const uint8_t *end = PAIR(p, &v, &n);
        if (end == NULL || v >= dim || !ctf_fast_put(&n, values + i * element, element))
            break;
        store_le32(indices + 4 * (size_t)i, (uint32_t)v);
        p = ctf_behind_blanks(end);
    }
    *at = p;
    return i;
}
