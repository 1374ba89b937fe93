/* augment/colour/colour_entries.h - kernels by their channels, a loop each. Who includes it defines
 * ENTRY(type, name): the words before a function, and its name. */
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
