/* codec/jpeg/progressive_bmi2.c - compiled for BMI2, whose pdep finds the n-th zero at once. */
#include "codec/jpeg/progressive_blocks.h"

bool progressive_run_bmi2(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end)
{
    return take_run(s, g, from, end);
}
