/* base/simd.h - functions compiled for the instructions of a level (base/cpu.h), which the machine
 * that compiles need not have. */
#ifndef IMREC_BASE_SIMD_H
#define IMREC_BASE_SIMD_H

#define UNROLL _Pragma("GCC unroll 8") /* or registers are memory */

#if defined(__aarch64__)
#include <arm_neon.h>

/* NEON is part of the base instructions of 64-bit Arm: its functions need no attribute. */
#define INLINE_NEON static inline __attribute__((always_inline))

/* Bytes of any type from any place, that have no alignment. */
INLINE_NEON uint8x8_t load8(const void *p)
{
    return vld1_u8(p);
}

INLINE_NEON uint8x16_t load16(const void *p)
{
    return vld1q_u8(p);
}

/* Byte k of the result is byte order[k] of v; 0 for an order that is negative. */
INLINE_NEON uint8x16_t ordered(uint8x16_t v, const int8_t order[16])
{
    return vqtbl1q_u8(v, vreinterpretq_u8_s8(vld1q_s8(order)));
}

/* Eight integers to bytes, saturated. */
INLINE_NEON uint8x8_t bytes_of(int32x4_t low, int32x4_t high)
{
    return vqmovun_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high)));
}
#endif

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,f16c")))
#define AVX512                                                                                     \
    __attribute__((                                                                                \
        target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vnni")))
#define INLINE2   AVX2 static inline __attribute__((always_inline))
#define INLINE512 AVX512 static inline __attribute__((always_inline))

/* Bytes from and to any place, of any type, that have no alignment. */
INLINE2 __m128i load64(const void *p) /* in the low half */
{
    return _mm_loadl_epi64(p);
}

INLINE2 __m128i load128(const void *p)
{
    return _mm_loadu_si128(p);
}

INLINE2 __m256i load256(const void *p)
{
    return _mm256_loadu_si256(p);
}

INLINE2 __m256i load_halves(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load128(low)), load128(high), 1);
}

INLINE2 __m256i load_twice(const void *p) /* 16 bytes into both halves */
{
    return _mm256_broadcastsi128_si256(load128(p));
}

INLINE512 __m512i load_quarters(const void *a, const void *b, const void *c, const void *d)
{
    __m512i v = _mm512_castsi128_si512(load128(a));
    v = _mm512_inserti32x4(v, load128(b), 1);
    v = _mm512_inserti32x4(v, load128(c), 2);
    return _mm512_inserti32x4(v, load128(d), 3);
}

INLINE2 void store64(void *p, __m128i v)
{
    _mm_storel_epi64(p, v);
}

INLINE2 void store128(void *p, __m128i v)
{
    _mm_storeu_si128(p, v);
}

INLINE2 void store256(void *p, __m256i v)
{
    _mm256_storeu_si256(p, v);
}

INLINE2 void store_halves(void *low, void *high, __m256i v)
{
    store128(low, _mm256_castsi256_si128(v));
    store128(high, _mm256_extracti128_si256(v, 1));
}

/* 16 words to bytes, saturated, in order. */
INLINE2 __m128i bytes_of_words(__m256i v)
{
    return _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
#endif

/* A table of kernels, a row a level: KERNELS(X) is X(name, AVX2's, AVX-512's, NEON's) for each,
 * where the last three say whose function the level has: X(blur, avx2, avx512, neon), X(mix, avx2,
 * avx2, neon). */
#define KERNEL_OF_SCALAR(name, at_avx2, at_avx512, at_neon) .name = name##_scalar,
#define KERNEL_OF_AVX2(name, at_avx2, at_avx512, at_neon)   .name = name##_##at_avx2,
#define KERNEL_OF_AVX512(name, at_avx2, at_avx512, at_neon) .name = name##_##at_avx512,
#define KERNEL_OF_NEON(name, at_avx2, at_avx512, at_neon)   .name = name##_##at_neon,
#if defined(__x86_64__)
#define KERNEL_TABLE(KERNELS)                                                                      \
    {                                                                                              \
        [CPU_SCALAR] = {KERNELS(KERNEL_OF_SCALAR)}, [CPU_AVX2] = {KERNELS(KERNEL_OF_AVX2)},        \
        [CPU_AVX512] = {KERNELS(KERNEL_OF_AVX512)},                                                \
    }
#elif defined(__aarch64__)
#define KERNEL_TABLE(KERNELS)                                                                      \
    {                                                                                              \
        [CPU_SCALAR] = {KERNELS(KERNEL_OF_SCALAR)}, [CPU_NEON] = {KERNELS(KERNEL_OF_NEON)},        \
    }
#else
#define KERNEL_TABLE(KERNELS)                                                                      \
    {                                                                                              \
        [CPU_SCALAR] = {KERNELS(KERNEL_OF_SCALAR)},                                                \
    }
#endif
#endif
