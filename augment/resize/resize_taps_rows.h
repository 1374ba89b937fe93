/* augment/resize/resize_taps_rows.h - rows by their channels and taps, over pixels(). Who includes
 * it defines LOOP and ENTRY(name): the words before an inline function; before one, and its name.
 */
LOOP uint32_t by_taps(const struct taps_table *t, const uint8_t *row, int32_t *out,
                      uint32_t channels)
{
    return t->taps == TAPS_CUBIC ? pixels(t, row, out, channels, TAPS_CUBIC)
                                 : pixels(t, row, out, channels, TAPS_LANCZOS);
}

ENTRY(taps_x)(const struct taps_table *t, const uint8_t *row, int32_t *out)
{
    uint32_t done = 0;
    if (t->channels == 3)
        done = by_taps(t, row, out, 3);
    else if (t->channels == 4)
        done = by_taps(t, row, out, 4);
    const struct taps_table rest = {t->first + done, t->weights + (size_t)done * t->taps,
                                    t->count - done, t->taps, t->channels};
    taps_x_scalar(&rest, row, out + (size_t)done * t->channels);
}
