/* formats/cbf/index_check.c - largest and sum of many integers, by scalar code, AVX2 and NEON. */
#include "formats/cbf/index_check.h"
#include "base/simd.h"

#define FEW 16 /* the plain loop is as fast for a short sequence */

static uint32_t largest_scalar(const uint8_t *p, size_t n)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = load_le32(p + 4 * i);
        most = v > most ? v : most;
    }
    return most;
}

static uint64_t sum_scalar(const uint8_t *p, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += load_le32(p + 4 * i);
    return sum;
}

#if defined(__x86_64__)
AVX2 static __m256i at(const uint8_t *p, size_t i)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)(p + 4 * i));
}

AVX2 static uint32_t largest_avx2(const uint8_t *p, size_t n)
{
    __m256i a = _mm256_setzero_si256(), b = a;
    size_t i = 0;
    for (; n - i >= 16; i += 16) {
        a = _mm256_max_epu32(a, at(p, i));
        b = _mm256_max_epu32(b, at(p, i + 8));
    }
    uint32_t lane[8], most = largest_scalar(p + 4 * i, n - i);
    _mm256_storeu_si256((__m256i *)(void *)lane, _mm256_max_epu32(a, b));
    for (int k = 0; k < 8; k++)
        most = lane[k] > most ? lane[k] : most;
    return most;
}

AVX2 static uint64_t sum_avx2(const uint8_t *p, size_t n)
{
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    __m256i even = _mm256_setzero_si256(), odd = even;
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        const __m256i v = at(p, i);
        even = _mm256_add_epi64(even, _mm256_and_si256(v, low));
        odd = _mm256_add_epi64(odd, _mm256_srli_epi64(v, 32));
    }
    uint64_t lane[4];
    _mm256_storeu_si256((__m256i *)(void *)lane, _mm256_add_epi64(even, odd));
    return lane[0] + lane[1] + lane[2] + lane[3] + sum_scalar(p + 4 * i, n - i);
}
#elif defined(__aarch64__)
static uint32_t largest_neon(const uint8_t *p, size_t n)
{
    uint32x4_t a = vdupq_n_u32(0);
    size_t i = 0;
    for (; n - i >= 4; i += 4)
        a = vmaxq_u32(a, vreinterpretq_u32_u8(load16(p + 4 * i)));
    const uint32_t most = vmaxvq_u32(a), rest = largest_scalar(p + 4 * i, n - i);
    return most > rest ? most : rest;
}

static uint64_t sum_neon(const uint8_t *p, size_t n)
{
    uint64x2_t sum = vdupq_n_u64(0);
    size_t i = 0;
    for (; n - i >= 4; i += 4)
        sum = vpadalq_u32(sum, vreinterpretq_u32_u8(load16(p + 4 * i)));
    return vaddvq_u64(sum) + sum_scalar(p + 4 * i, n - i);
}
#endif

const struct index_variant index_variants[] = {
    {"scalar", CPU_SCALAR, largest_scalar, sum_scalar},
#if defined(__x86_64__)
    {"avx2", CPU_AVX2, largest_avx2, sum_avx2},
#elif defined(__aarch64__)
    {"neon", CPU_NEON, largest_neon, sum_neon},
#endif
};
const size_t index_variant_count = sizeof(index_variants) / sizeof(*index_variants);

static const struct index_variant *best(void)
{
    size_t i = index_variant_count - 1;
    while (index_variants[i].level > cpu_level())
        i--;
    return &index_variants[i];
}

uint32_t index_largest(const uint8_t *p, size_t n)
{
    return n < FEW ? largest_scalar(p, n) : best()->largest(p, n);
}

uint64_t index_sum(const uint8_t *p, size_t n)
{
    return n < FEW ? sum_scalar(p, n) : best()->sum(p, n);
}
