/* base/cpu.c - which instruction sets the kernels may use. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const names[CPU_LEVELS] = {
    [CPU_SCALAR] = "scalar",
#if defined(__x86_64__)
    [CPU_AVX2] = "avx2",
    [CPU_AVX512] = "avx512",
#elif defined(__aarch64__)
    [CPU_NEON] = "neon",
#endif
};

const char *cpu_level_name(enum cpu_level level)
{
    return names[level];
}

#if defined(__x86_64__)
static bool has_f16c(void) /* a name that __builtin_cpu_supports() of clang does not know */
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

bool cpu_has(enum cpu_level level)
{
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && has_f16c();
    if (level == CPU_AVX2)
        return avx2;
    if (level == CPU_AVX512) /* the AVX-512 files finish with AVX2 code */
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni") &&
               __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
#elif defined(__aarch64__)
    if (level == CPU_NEON)
        return true;
#endif
    return level == CPU_SCALAR;
}

static enum cpu_level choose(void)
{
    const char *pinned = getenv("IMREC_CPU");
    for (int l = 0; pinned != NULL && l < CPU_LEVELS; l++)
        if (strcmp(pinned, names[l]) == 0 && cpu_has((enum cpu_level)l))
            return (enum cpu_level)l;
    for (int l = CPU_LEVELS - 1; l > CPU_SCALAR; l--)
        if (cpu_has((enum cpu_level)l))
            return (enum cpu_level)l;
    return CPU_SCALAR;
}

enum cpu_level cpu_level(void)
{
    static atomic_int known; /* 1 + level; racing first calls store the same value */
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level == 0) {
        level = 1 + (int)choose();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return (enum cpu_level)(level - 1);
}

bool cpu_uses_bmi2(void)
{
#if defined(__x86_64__)
    return cpu_level() >= CPU_AVX2 && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}
