/* codec/jpeg/progressive_avx512.c - the loops of progressive.c compiled for AVX-512, whose masks
 * refine a block at once, and for BMI2, as scan_bmi2.c. */
#include "codec/jpeg/progressive_blocks.h"

bool progressive_run_avx512(struct scanning *s, const struct geometry *g, uint32_t from,
                            uint32_t end)
{
    return take_run(s, g, from, end);
}
