/* augment/geometry/warp_taps.h - rows by their taps, a loop each, over row_of(). Who includes it
 * defines LOOP: the words before an inline function. */
LOOP void by_taps(const struct warp_row *r, uint8_t *out, uint32_t channels)
{
    if (r->taps == 2)
        row_of(r, out, 2, channels);
    else if (r->taps == 4)
        row_of(r, out, 4, channels);
    else
        row_of(r, out, 8, channels);
}
