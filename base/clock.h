/* base/clock.h - time that only goes forward, for statistics. */
#ifndef IMREC_BASE_CLOCK_H
#define IMREC_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);          /* since some moment of this machine's */
void clock_sleep_ms(uint64_t ms); /* at least so long, signals or not */
#endif
