/* formats/ctf/ctf_values.h - many values at once, as long as they are plain. What stops a loop is
 * left to the careful way. All variants give the same bits. */
#ifndef IMREC_FORMATS_CTF_CTF_VALUES_H
#define IMREC_FORMATS_CTF_CTF_VALUES_H

#include "base/bytes.h"
#include "base/cpu.h"

enum {
    CTF_SAFE_BYTES = 64
}; /* a value may begin before `safe`; this many bytes after it are readable */

/* Reads values at *at, which moves past them and the blanks that follow; returns how many. A line
 * end or a pipe stops them; one must come. */
typedef uint32_t ctf_dense_fn(const uint8_t **at, const uint8_t *safe, uint8_t *to, uint32_t most);
/* The same with an index below dim before each; there is room for all of the line. */
typedef uint32_t ctf_sparse_fn(const uint8_t **at, const uint8_t *safe, uint8_t *values,
                               uint8_t *indices, uint32_t dim);

struct ctf_values {
    const char *name;
    enum cpu_level level;
    ctf_dense_fn *dense[2]; /* by enum stream_element */
    ctf_sparse_fn *sparse[2];
};
/* Slowest and plainest first. */
extern const struct ctf_values ctf_values_variants[];
extern const size_t ctf_values_variant_count;
const struct ctf_values *ctf_values_best(void); /* that cpu_level() allows */

ctf_dense_fn ctf_dense_float_avx2, ctf_dense_double_avx2, ctf_dense_float_avx512,
    ctf_dense_double_avx512, ctf_dense_float_neon, ctf_dense_double_neon;
ctf_sparse_fn ctf_sparse_float_avx2, ctf_sparse_double_avx2, ctf_sparse_float_avx512,
    ctf_sparse_double_avx512, ctf_sparse_float_neon, ctf_sparse_double_neon;
#endif
