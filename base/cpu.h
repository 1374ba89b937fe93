/* base/cpu.h - which instruction sets the kernels may use. Every table of variants is chosen
 * from by this one answer: where it has a line a level, a level without a variant of its own has
 * the one below. Every variant gives the same bits. */
#ifndef IMREC_BASE_CPU_H
#define IMREC_BASE_CPU_H

#include <stdbool.h>

enum cpu_level {
    CPU_SCALAR,
#if defined(__x86_64__)
    CPU_AVX2,   /* AVX2 and F16C */
    CPU_AVX512, /* F, BW, DQ, VL, VBMI, VBMI2, VNNI: Ice Lake, Zen 4 and later */
#elif defined(__aarch64__)
    CPU_NEON, /* which every 64-bit Arm has; CRC-32C needs an extension that is asked for */
#endif
    CPU_LEVELS,
};

/* What this CPU and this build can run. */
bool cpu_has(enum cpu_level level);

/* The highest level to use: the CPU's, or the lower one of IMREC_CPU=scalar|avx2|avx512 (on Arm:
 * scalar|neon) in the environment. A name that is unknown or not available is ignored: it must not
 * stop a job that runs. Any thread. */
enum cpu_level cpu_level(void);

const char *cpu_level_name(enum cpu_level level);

/* Whether code compiled for BMI and BMI2 may be used: from the level AVX2 on, where the CPU has
 * them. */
bool cpu_uses_bmi2(void);

/* Whether an instruction of the level takes any bytes out of 64: tables for it are made then. */
static inline bool cpu_picks_bytes(enum cpu_level level)
{
#if defined(__x86_64__)
    return level == CPU_AVX512;
#else
    (void)level;
    return false;
#endif
}
#endif
