/* base/simd.h - functions compiled for the instructions of a level (base/cpu.h), which the machine
 * that compiles need not have. */
#ifndef IMREC_BASE_SIMD_H
#define IMREC_BASE_SIMD_H

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,f16c")))
#define AVX512                                                                                     \
    __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni")))
#define INLINE2   AVX2 static inline __attribute__((always_inline))
#define INLINE512 AVX512 static inline __attribute__((always_inline))
#endif

/* A table of kernels, a row a level: KERNELS(X) is X(name, AVX2's, AVX-512's) for each, where the
 * last two say whose function the level has: X(blur, avx2, avx512), X(mix, avx2, avx2). */
#define KERNEL_OF_SCALAR(name, at_avx2, at_avx512) .name = name##_scalar,
#define KERNEL_OF_AVX2(name, at_avx2, at_avx512)   .name = name##_##at_avx2,
#define KERNEL_OF_AVX512(name, at_avx2, at_avx512) .name = name##_##at_avx512,
#if defined(__x86_64__)
#define KERNEL_TABLE(KERNELS)                                                                      \
    {                                                                                              \
        [CPU_SCALAR] = {KERNELS(KERNEL_OF_SCALAR)}, [CPU_AVX2] = {KERNELS(KERNEL_OF_AVX2)},        \
        [CPU_AVX512] = {KERNELS(KERNEL_OF_AVX512)},                                                \
    }
#else
#define KERNEL_TABLE(KERNELS)                                                                      \
    {                                                                                              \
        [CPU_SCALAR] = {KERNELS(KERNEL_OF_SCALAR)},                                                \
    }
#endif
#endif
