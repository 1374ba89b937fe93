/* codec/jpeg/scan_bmi2.c - compiled for BMI2, whose shifts need no particular register and
 * leave the flags alone: decoding does little else. */
#include "codec/jpeg/jpeg_blocks.h"
#include "codec/jpeg/scan.h"

bool scan_run_bmi2(struct scan *s, uint32_t count)
{
    return run_mcus(s, count);
}
