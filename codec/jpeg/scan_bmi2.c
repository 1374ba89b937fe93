/* codec/jpeg/scan_bmi2.c - the loops of scan.c and progressive.c compiled for BMI2. Its shifts need
 * no particular register and leave the flags alone, and decoding does little else; its pdep finds
 * the n-th zero at once. */
#include "codec/jpeg/progressive_blocks.h"
#include "codec/jpeg/scan.h"

bool scan_run_bmi2(struct scan *s, uint32_t count)
{
    return run_mcus(s, count);
}

bool progressive_run_bmi2(struct scanning *s, const struct geometry *g, uint32_t from, uint32_t end)
{
    return take_run(s, g, from, end);
}
