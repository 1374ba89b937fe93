/* codec/jpeg/encode/forward_shape.h - the forward DCT of as many blocks as a register has quarters
 * of 128 bits, a block each; register k has row k of all. Who includes it defines V (the register),
 * OP(name) (an intrinsic of that width), BROADCAST(p) (8 words to all quarters) and INLINE. */

INLINE void transpose(V r[8]) /* each block of its own */
{
    V a[8], b[8];
    UNROLL for (int k = 0; k < 4; k++)
    {
        a[2 * k] = OP(unpacklo_epi16)(r[2 * k], r[2 * k + 1]);
        a[2 * k + 1] = OP(unpackhi_epi16)(r[2 * k], r[2 * k + 1]);
    }
    UNROLL for (int k = 0; k < 2; k++)
    {
        b[4 * k] = OP(unpacklo_epi32)(a[4 * k], a[4 * k + 2]);
        b[4 * k + 1] = OP(unpackhi_epi32)(a[4 * k], a[4 * k + 2]);
        b[4 * k + 2] = OP(unpacklo_epi32)(a[4 * k + 1], a[4 * k + 3]);
        b[4 * k + 3] = OP(unpackhi_epi32)(a[4 * k + 1], a[4 * k + 3]);
    }
    UNROLL for (int k = 0; k < 4; k++)
    {
        r[2 * k] = OP(unpacklo_epi64)(b[k], b[k + 4]);
        r[2 * k + 1] = OP(unpackhi_epi64)(b[k], b[k + 4]);
    }
}

/* Pairs of values, those of the lower and those of the upper half of each block's columns. */
struct pairs {
    V low, high;
};

INLINE struct pairs paired(V a, V b)
{
    return (struct pairs){OP(unpacklo_epi16)(a, b), OP(unpackhi_epi16)(a, b)};
}

INLINE V descaled(V low, V high, int shift)
{
    const V half = OP(set1_epi32)(1 << (shift - 1));
    return OP(packs_epi32)(OP(srai_epi32)(OP(add_epi32)(low, half), shift),
                           OP(srai_epi32)(OP(add_epi32)(high, half), shift));
}

INLINE V of_two(struct pairs p, int32_t a, int32_t b, int shift)
{
    const V factors = OP(set1_epi32)(PAIR(a, b));
    return descaled(OP(madd_epi16)(p.low, factors), OP(madd_epi16)(p.high, factors), shift);
}

INLINE V of_four(struct pairs p, struct pairs q, int32_t ab, int32_t cd, int shift)
{
    const V first = OP(set1_epi32)(ab), second = OP(set1_epi32)(cd);
    return descaled(OP(add_epi32)(OP(madd_epi16)(p.low, first), OP(madd_epi16)(q.low, second)),
                    OP(add_epi32)(OP(madd_epi16)(p.high, first), OP(madd_epi16)(q.high, second)),
                    shift);
}

INLINE V kept(V v, bool first)
{
    return first
               ? OP(slli_epi16)(v, IDCT_KEPT)
               : OP(srai_epi16)(OP(add_epi16)(v, OP(set1_epi16)(1 << (IDCT_KEPT - 1))), IDCT_KEPT);
}

/* Over registers: each column of every block. */
INLINE void transform(V r[8], bool first)
{
    const int shift = first ? IDCT_SHIFT_1 : IDCT_SHIFT_2 - 3;
    V sum[4], d[4];
    UNROLL for (int k = 0; k < 4; k++)
    {
        sum[k] = OP(add_epi16)(r[k], r[7 - k]);
        d[3 - k] = OP(sub_epi16)(r[k], r[7 - k]);
    }
    const V s0 = OP(add_epi16)(sum[0], sum[3]), s3 = OP(sub_epi16)(sum[0], sum[3]);
    const V s1 = OP(add_epi16)(sum[1], sum[2]), s2 = OP(sub_epi16)(sum[1], sum[2]);
    const struct pairs even = paired(s3, s2), left = paired(d[0], d[1]), right = paired(d[2], d[3]);
    r[0] = kept(OP(add_epi16)(s0, s1), first);
    r[4] = kept(OP(sub_epi16)(s0, s1), first);
    r[2] = of_two(even, F_E0_2, F_E0_6, shift);
    r[6] = of_two(even, F_E1_2, F_E1_6, shift);
    r[1] = of_four(left, right, PAIR(F_O0_7, F_O0_5), PAIR(F_O0_3, F_O0_1), shift);
    r[3] = of_four(left, right, PAIR(F_O1_7, F_O1_5), PAIR(F_O1_3, F_O1_1), shift);
    r[5] = of_four(left, right, PAIR(F_O2_7, F_O2_5), PAIR(F_O2_3, F_O2_1), shift);
    r[7] = of_four(left, right, PAIR(F_O3_7, F_O3_5), PAIR(F_O3_3, F_O3_1), shift);
}

INLINE void forward(V r[8])
{
    transpose(r);
    transform(r, true);
    transpose(r);
    transform(r, false);
}

/* Magnitudes of row k; the caller knows the signs. */
INLINE V levels(V v, const struct quantizer *q, int k)
{
    const V n = OP(add_epi16)(OP(abs_epi16)(v), BROADCAST(q->half + 8 * k));
    const V part = OP(mulhi_epu16)(n, BROADCAST(q->factor + 8 * k));
    return OP(mulhi_epu16)(part, BROADCAST(q->scale + 8 * k));
}
