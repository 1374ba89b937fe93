/* formats/crc32c.h - CRC-32C (Castagnoli; RFC 3720, appendix B.4), the checksum of all our
 * side files. */
#ifndef IMREC_FORMATS_CRC32C_H
#define IMREC_FORMATS_CRC32C_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum: `crc` is that of the bytes before p[0..n), 0 if there are none. */
uint32_t crc32c(uint32_t crc, const void *p, size_t n);

/* That of p[0..n) in the form in which TFRecord files and others of TensorFlow and LevelDB have it,
 * so that a sum of bytes that contain sums is no weaker (tensorflow/core/lib/hash/crc32c.h: Mask).
 */
uint32_t crc32c_masked(const void *p, size_t n);

/* Joins the checksums of two adjacent pieces: the second has b_bytes. */
uint32_t crc32c_join(uint32_t a, uint32_t b, uint64_t b_bytes);

/* All ways to compute it, slowest and plainest first; crc32c() takes the last that
 * cpu_level() allows. Tests and benchmarks walk the table. */
struct crc32c_variant {
    const char *name;
    enum cpu_level level;
    uint32_t (*update)(uint32_t crc, const void *p, size_t n);
};
extern const struct crc32c_variant crc32c_variants[];
extern const size_t crc32c_variant_count;
#endif
