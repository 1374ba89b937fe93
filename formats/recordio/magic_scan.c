/*
 * formats/recordio/magic_scan.c - finding the magic word on 4-byte boundaries.
 *
 * Framing searches every payload for it, and resynchronising searches damaged bytes. Every variant
 * gives the same answer; they differ in words compared at once.
 */
#include "formats/recordio/magic_scan.h"
#include "base/simd.h"

#include "base/bytes.h"
#include "formats/recordio/recordio.h"

static size_t scan_from(const uint8_t *p, size_t n, size_t i)
{
    for (; n - i >= 4; i += 4)
        if (load_le32(p + i) == RECORDIO_MAGIC)
            return i;
    return n;
}

static size_t scan_scalar(const uint8_t *p, size_t n)
{
    return scan_from(p, n, 0);
}

#if defined(__x86_64__)
/* Looks at four vectors a turn and leaves the place inside them to scan_from(). */
AVX2 static size_t scan_avx2(const uint8_t *p, size_t n)
{
    const __m256i magic = _mm256_set1_epi32((int)RECORDIO_MAGIC);
    size_t i = 0;
    for (; n - i >= 128; i += 128) {
        const __m256i *v = (const __m256i *)(const void *)(p + i);
        const __m256i a = _mm256_cmpeq_epi32(_mm256_loadu_si256(v), magic);
        const __m256i b = _mm256_cmpeq_epi32(_mm256_loadu_si256(v + 1), magic);
        const __m256i c = _mm256_cmpeq_epi32(_mm256_loadu_si256(v + 2), magic);
        const __m256i d = _mm256_cmpeq_epi32(_mm256_loadu_si256(v + 3), magic);
        const __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
        if (!_mm256_testz_si256(any, any))
            break;
    }
    return scan_from(p, n, i);
}
#elif defined(__aarch64__)
static size_t scan_neon(const uint8_t *p, size_t n)
{
    const uint32x4_t magic = vdupq_n_u32(RECORDIO_MAGIC);
    size_t i = 0;
    for (; n - i >= 64; i += 64) {
        const uint32x4_t a = vceqq_u32(vreinterpretq_u32_u8(load16(p + i)), magic);
        const uint32x4_t b = vceqq_u32(vreinterpretq_u32_u8(load16(p + i + 16)), magic);
        const uint32x4_t c = vceqq_u32(vreinterpretq_u32_u8(load16(p + i + 32)), magic);
        const uint32x4_t d = vceqq_u32(vreinterpretq_u32_u8(load16(p + i + 48)), magic);
        if (vmaxvq_u32(vorrq_u32(vorrq_u32(a, b), vorrq_u32(c, d))) != 0)
            break;
    }
    return scan_from(p, n, i);
}
#endif

const struct magic_scan_variant magic_scan_variants[] = {
    {"scalar", CPU_SCALAR, scan_scalar},
#if defined(__x86_64__)
    {"avx2", CPU_AVX2, scan_avx2},
#elif defined(__aarch64__)
    {"neon", CPU_NEON, scan_neon},
#endif
};
const size_t magic_scan_variant_count = sizeof(magic_scan_variants) / sizeof(*magic_scan_variants);

size_t magic_scan(const uint8_t *p, size_t n)
{
    size_t best = magic_scan_variant_count - 1;
    while (magic_scan_variants[best].level > cpu_level())
        best--;
    return magic_scan_variants[best].scan(p, n);
}
