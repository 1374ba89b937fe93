/* codec/jpeg/kernels/idct_entry.h - a block by what it has, over corner() and whole(). Who includes
 * it defines ENTRY(name): the words before a function, and its name. */
ENTRY(idct)
(const int16_t *coef, const uint16_t *quant, uint32_t last, uint8_t *out, size_t stride)
{
    if (last == 0)
        idct_flat(coef[0], quant[0], out, stride);
    else if (!(last <= IDCT_CORNER ? corner(coef, quant, out, stride)
                                   : whole(coef, quant, out, stride)))
        idct_scalar(coef, quant, last, out, stride);
}
