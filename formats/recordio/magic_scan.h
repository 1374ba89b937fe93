/* formats/recordio/magic_scan.h - finding the magic word on 4-byte boundaries, at memory speed. */
#ifndef IMREC_FORMATS_RECORDIO_MAGIC_SCAN_H
#define IMREC_FORMATS_RECORDIO_MAGIC_SCAN_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

/* Offset, a multiple of 4, of the first whole word of p[0..n) that is the magic; n if none is.
 * The words count from p; p itself need not be aligned in memory. */
size_t magic_scan(const uint8_t *p, size_t n);

/* All ways to do so, slowest and plainest first; magic_scan() takes the last that
 * cpu_level() allows. Tests and benchmarks walk the table. */
struct magic_scan_variant {
    const char *name;
    enum cpu_level level;
    size_t (*scan)(const uint8_t *p, size_t n);
};
extern const struct magic_scan_variant magic_scan_variants[];
extern const size_t magic_scan_variant_count;
#endif
