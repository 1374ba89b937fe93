/* formats/ctf/ctf_values.c - the plain variant, eight bytes at a time, and the table. */
#include "formats/ctf/ctf_values.h"

#include "formats/ctf/ctf_fast.h"

CTF_INLINE void put_digit(uint64_t digits, unsigned k, uint8_t *to, size_t element)
{
    const float f = (float)(int)(digits >> 16 * k & 15);
    const double d = f;
    memcpy(to + k * element, element == 4 ? (const void *)&f : (const void *)&d, element);
}

CTF_INLINE uint32_t four_digits(const uint8_t *p, uint8_t *to, uint32_t most, size_t element)
{
    uint64_t digits;
    if (!ctf_fast_four(p, &digits) || most < 4)
        return 0;
    for (unsigned k = 0; k < 4; k++)
        put_digit(digits, k, to, element);
    return 4;
}

#define LOOP CTF_INLINE
#define SCAN ctf_fast_number
#define PAIR ctf_fast_pair
#define RUN  four_digits
#include "formats/ctf/ctf_values_loops.h"

#define ENTRY(name) static uint32_t name
#include "formats/ctf/ctf_values_entries.h"

const struct ctf_values ctf_values_variants[] = {
    {"scalar", CPU_SCALAR, {dense_float, dense_double}, {sparse_float, sparse_double}},
#if defined(__x86_64__)
    {"avx2",
     CPU_AVX2,
     {ctf_dense_float_avx2, ctf_dense_double_avx2},
     {ctf_sparse_float_avx2, ctf_sparse_double_avx2}},
    {"avx512",
     CPU_AVX512,
     {ctf_dense_float_avx512, ctf_dense_double_avx512},
     {ctf_sparse_float_avx512, ctf_sparse_double_avx512}},
#elif defined(__aarch64__)
    {"neon",
     CPU_NEON,
     {ctf_dense_float_neon, ctf_dense_double_neon},
     {ctf_sparse_float_neon, ctf_sparse_double_neon}},
#endif
};
const size_t ctf_values_variant_count =
    sizeof(ctf_values_variants) / sizeof(ctf_values_variants[0]);

const struct ctf_values *ctf_values_best(void)
{
    size_t i = ctf_values_variant_count;
    while (ctf_values_variants[i - 1].level > cpu_level())
        i--;
    return &ctf_values_variants[i - 1];
}
