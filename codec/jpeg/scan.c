/* codec/jpeg/scan.c - MCUs out of the bits. */
#include "codec/jpeg/scan.h"

#include "base/cpu.h"
#include "codec/jpeg/jpeg_blocks.h"

static bool scan_run_scalar(struct scan *s, uint32_t count)
{
    return run_mcus(s, count);
}

scan_run_fn *scan_run_best(void)
{
#if defined(__x86_64__)
    if (cpu_uses_bmi2())
        return scan_run_bmi2;
#endif
    return scan_run_scalar;
}

int64_t scan_left(const struct scan *s)
{
    return bits_left(&s->bits, s->end);
}
