/* augment/resize/resample_rows.h - across the rows: what the variants of resample_y() share. Who
 * includes it defines LOOP: the words before an inline function, ints: a vector, V(operation): its
 * name on them, and add_pair(): pairs of values times weights, added to sums. */
LOOP ints words_of(ints a, ints b)
{
    return V(packs_epi32)(V(srai_epi32)(a, RESAMPLE_Y_SHIFT), V(srai_epi32)(b, RESAMPLE_Y_SHIFT));
}

/* As many values as there are bytes in a vector; its lanes in turns. */
LOOP ints values_at(const int16_t *const *rows, const int16_t *weights, uint32_t pairs, size_t x)
{
    const size_t step = sizeof(ints) / sizeof(**rows);
    ints a = V(set1_epi32)(1 << (RESAMPLE_Y_SHIFT - 1)), b = a, c = a, d = a;
    for (uint32_t p = 0; p < pairs; p++) {
        const ints w = V(set1_epi32)(two_weights(weights + 2 * p));
        const int16_t *v = rows[p] + 2 * x;
        a = add_pair(a, v, w);
        b = add_pair(b, v + step, w);
        c = add_pair(c, v + 2 * step, w);
        d = add_pair(d, v + 3 * step, w);
    }
    return V(packus_epi16)(words_of(a, b), words_of(c, d));
}
