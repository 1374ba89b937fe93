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
#endif
