/* im2rec/item/ssim_kernels.c */
#include "im2rec/item/ssim_kernels.h"

#include "base/simd.h"

#define SHAPE static inline __attribute__((always_inline))

SHAPE void take(const uint8_t *px, size_t n, float *restrict value, float *restrict square)
{
    for (size_t x = 0; x < n; x++) {
        value[x] = (float)(px[x] - SSIM_MIDDLE);
        square[x] = value[x] * value[x];
    }
}

SHAPE void multiply(const float *a, const float *b, size_t n, float *restrict out)
{
    for (size_t x = 0; x < n; x++)
        out[x] = a[x] * b[x];
}

SHAPE void weigh(const float *const row[SSIM_WINDOW], const float weight[SSIM_WINDOW], size_t n,
                 float *restrict out)
{
    const float *const r0 = row[0], *const r1 = row[1], *const r2 = row[2], *const r3 = row[3];
    const float *const r4 = row[4], *const r5 = row[5], *const r6 = row[6], *const r7 = row[7];
    const float *const r8 = row[8], *const r9 = row[9], *const r10 = row[10];
    const float w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3], w4 = weight[4];
    const float w5 = weight[5], w6 = weight[6], w7 = weight[7], w8 = weight[8], w9 = weight[9];
    const float w10 = weight[10];
    for (size_t x = 0; x < n; x++)
        out[x] = ((w0 * r0[x] + w1 * r1[x]) + (w2 * r2[x] + w3 * r3[x])) +
                 ((w4 * r4[x] + w5 * r5[x]) + (w6 * r6[x] + w7 * r7[x])) +
                 ((w8 * r8[x] + w9 * r9[x]) + w10 * r10[x]);
}

SHAPE float similarity(const struct ssim_row *r, size_t x)
{
    const float c1 = 6.5025f, c2 = 58.5225f; /* (K1 L)^2, (K2 L)^2 */
    const float a = r->mean_a[x], b = r->mean_b[x];
    const float la = a + SSIM_MIDDLE, lb = b + SSIM_MIDDLE;
    const float varied = (r->energy_a[x] - a * a) + (r->energy_b[x] - b * b);
    const float light = (2 * (la * lb) + c1) / ((la * la + lb * lb) + c1);
    return light * ((2 * (r->both[x] - a * b) + c2) / (varied + c2));
}

SHAPE void compare(const struct ssim_row *given, size_t n, double *total)
{
    const struct ssim_row r = *given;
    double t[SSIM_LANES];
    for (size_t k = 0; k < SSIM_LANES; k++)
        t[k] = total[k];
    size_t x = 0;
    for (; x + SSIM_LANES <= n; x += SSIM_LANES)
        for (size_t k = 0; k < SSIM_LANES; k++)
            t[k] += (double)similarity(&r, x + k);
    for (size_t k = 0; k < SSIM_LANES; k++)
        total[k] = t[k];
    for (; x < n; x++)
        total[x % SSIM_LANES] += (double)similarity(&r, x);
}

#define VARIANT(level, attribute)                                                                  \
    attribute static void take_##level(const uint8_t *px, size_t n, float *value, float *square)   \
    {                                                                                              \
        take(px, n, value, square);                                                                \
    }                                                                                              \
    attribute static void multiply_##level(const float *a, const float *b, size_t n, float *out)   \
    {                                                                                              \
        multiply(a, b, n, out);                                                                    \
    }                                                                                              \
    attribute static void weigh_##level(const float *const row[SSIM_WINDOW],                       \
                                        const float weight[SSIM_WINDOW], size_t n,                 \
                                        float *restrict out)                                       \
    {                                                                                              \
        weigh(row, weight, n, out);                                                                \
    }                                                                                              \
    attribute static void compare_##level(const struct ssim_row *r, size_t n, double *total)       \
    {                                                                                              \
        compare(r, n, total);                                                                      \
    }

VARIANT(scalar, )
#if defined(__x86_64__)
VARIANT(avx2, AVX2)
#endif

/* AVX-512 is no faster. */
#define KERNELS(X)                                                                                 \
    X(take, avx2, avx2, scalar)                                                                    \
    X(multiply, avx2, avx2, scalar)                                                                \
    X(weigh, avx2, avx2, scalar)                                                                   \
    X(compare, avx2, avx2, scalar)

const struct ssim_kernels ssim_kernels[CPU_LEVELS] = KERNEL_TABLE(KERNELS);
