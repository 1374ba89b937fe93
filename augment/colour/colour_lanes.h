/* augment/colour/colour_lanes.h - what the colour kernels of any width share. Who includes it
 * defines STEP pixels a vector, and
 *
 *     LOOP, ENTRY(type, name)   the words before an inline function; before one, and its name
 *     reals, ints, truth        a channel of STEP pixels, and what a comparison of two makes
 *     struct pixels             of which r, g and b are ints
 *     V(operation)              its name on vectors
 *     COMPARE(a, how, b)        of reals
 *     SHIFTED(v, bits)          to the right, of ints that are not negative
 *     is_odd, in_sixths         of ints: is bit 0 set; is the bit of that number in `bits`
 *     select, only, unless      one or the other; v, or 0 elsewhere; v, or 0 there
 *     add_where, sub_where      a + b and a - b there, a elsewhere
 *     vectors                   of n pixels, how many are not left to the scalar
 *     first, after, put         of these: load the first, load those after i's, store i's
 *
 * Pixels are loaded before those before them are stored: a load of bytes that are still on their
 * way to the cache would wait for them, even where a mask lets them out. */
#define ALL(value) V(set1_ps)(value)

LOOP ints grey_all(const struct grey_weights *w, const struct pixels *e)
{
    const ints r = V(mullo_epi32)(e->r, V(set1_epi32)(w->r));
    const ints g = V(mullo_epi32)(e->g, V(set1_epi32)(w->g));
    const ints b = V(mullo_epi32)(e->b, V(set1_epi32)(w->b));
    const ints half = V(set1_epi32)(1 << w->bits >> 1);
    const ints sum = V(add_epi32)(V(add_epi32)(r, g), V(add_epi32)(b, half));
    return SHIFTED(sum, w->bits);
}

LOOP ints saturated(reals v) /* rounded to even, 0..255 */
{
    return V(cvtps_epi32)(V(min_ps)(V(max_ps)(v, ALL(0)), ALL(255)));
}

/* ---- saturation --------------------------------------------------------------------------- */

LOOP void saturation_of(const struct grey_weights *w, float factor, uint8_t *px, uint32_t n,
                        uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    const reals f = ALL(factor), rest = ALL(1 - factor);
    struct pixels e = first(px, whole, channels), next;
    for (uint32_t i = 0; i < whole; i += STEP, e = next) {
        next = after(px, i, whole, channels);
        const reals grey = V(cvtepi32_ps)(grey_all(w, &e)) * rest;
        e.r = saturated(V(cvtepi32_ps)(e.r) * f + grey);
        e.g = saturated(V(cvtepi32_ps)(e.g) * f + grey);
        e.b = saturated(V(cvtepi32_ps)(e.b) * f + grey);
        put(px, i, whole, &e, channels);
    }
    if (whole < n)
        saturation_scalar(w, factor, px + (size_t)whole * channels, n - whole, channels);
}

/* ---- HLS ---------------------------------------------------------------------------------- */

LOOP reals unit(ints v)
{
    return V(cvtepi32_ps)(v) * ALL(1.0f / 255);
}

struct hls {
    ints h, l, s;
};

LOOP struct hls to_hls(const struct pixels *e)
{
    const reals r = unit(e->r), g = unit(e->g), b = unit(e->b);
    const reals hi = V(max_ps)(V(max_ps)(r, g), b), lo = V(min_ps)(V(min_ps)(r, g), b);
    const reals delta = hi - lo, sum = hi + lo, l = sum * ALL(0.5f);
    const truth colour = COMPARE(delta, _CMP_GT_OQ, ALL(FLT_EPSILON));
    const reals below = select(ALL(2) - sum, COMPARE(l, _CMP_LT_OQ, ALL(0.5f)), sum);
    const reals s = only(colour, delta / below), k = ALL(60) / delta;
    const truth is_r = COMPARE(hi, _CMP_EQ_OQ, r), is_g = COMPARE(hi, _CMP_EQ_OQ, g);
    const reals a = select(select(r - g, is_g, b - r), is_r, g - b);
    const reals turn = a * k + unless(is_r, select(ALL(240), is_g, ALL(120)));
    const reals h = add_where(turn, COMPARE(turn, _CMP_LT_OQ, ALL(0)), ALL(360)) * ALL(0.5f);
    return (struct hls){saturated(only(colour, h)), saturated(l * ALL(255)),
                        saturated(s * ALL(255))};
}

LOOP ints shifted(ints v, int32_t shift, int32_t most)
{
    const ints sum = V(add_epi32)(v, V(set1_epi32)(shift));
    return V(min_epi32)(V(max_epi32)(sum, V(set1_epi32)(0)), V(set1_epi32)(most));
}

/* p1 in the sixths whose bits are in `ones`, p2 in those of `twos`, between elsewhere; a byte. */
LOOP ints pick(ints sixth, reals p1, reals p2, reals between, int ones, int twos)
{
    const reals v = select(between, in_sixths(sixth, ones), p1);
    return saturated(select(v, in_sixths(sixth, twos), p2) * ALL(255));
}

LOOP void from_hls(const struct hls *x, struct pixels *e)
{
    const reals one = ALL(1), six = ALL(6), l = unit(x->l), s = unit(x->s);
    reals h = V(cvtepi32_ps)(x->h) * ALL(6.0f / 180);
    const reals dark = l * (one + s), bright = l + s - l * s;
    const reals p2 = select(bright, COMPARE(l, _CMP_LE_OQ, ALL(0.5f)), dark);
    const reals p1 = ALL(2) * l - p2;
    h = sub_where(h, COMPARE(h, _CMP_GE_OQ, six), six);
    const ints sixth = V(cvttps_epi32)(h);
    h = h - V(cvtepi32_ps)(sixth);
    const reals between = p1 + (p2 - p1) * select(h, is_odd(sixth), one - h);
    e->r = pick(sixth, p1, p2, between, 0x0c, 0x21);
    e->g = pick(sixth, p1, p2, between, 0x30, 0x06);
    e->b = pick(sixth, p1, p2, between, 0x03, 0x18);
}

LOOP void hls_of(const int32_t shift[3], uint8_t *px, uint32_t n, uint32_t channels)
{
    const uint32_t whole = vectors(n, channels);
    struct pixels e = first(px, whole, channels), next;
    for (uint32_t i = 0; i < whole; i += STEP, e = next) {
        next = after(px, i, whole, channels);
        struct hls x = to_hls(&e);
        x.h = shifted(x.h, shift[0], 180);
        x.l = shifted(x.l, shift[1], 255);
        x.s = shifted(x.s, shift[2], 255);
        from_hls(&x, &e);
        put(px, i, whole, &e, channels);
    }
    if (whole < n)
        hls_shift_scalar(shift, px + (size_t)whole * channels, n - whole, channels);
}

/* ---- by their channels, a loop each --------------------------------------------------------- */

LOOP uint64_t grey_sum_of(const struct grey_weights *w, const uint8_t *px, uint32_t n,
                          uint32_t channels);

ENTRY(uint64_t, grey_sum)
(const struct grey_weights *w, const uint8_t *px, uint32_t n, uint32_t channels)
{
    return channels == 3 ? grey_sum_of(w, px, n, 3) : grey_sum_of(w, px, n, 4);
}

ENTRY(void, saturation)
(const struct grey_weights *w, float factor, uint8_t *px, uint32_t n, uint32_t channels)
{
    if (channels == 3)
        saturation_of(w, factor, px, n, 3);
    else
        saturation_of(w, factor, px, n, 4);
}

ENTRY(void, hls_shift)(const int32_t shift[3], uint8_t *px, uint32_t n, uint32_t channels)
{
    if (channels == 3)
        hls_of(shift, px, n, 3);
    else
        hls_of(shift, px, n, 4);
}
