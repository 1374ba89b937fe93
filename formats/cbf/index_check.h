/* formats/cbf/index_check.h - the loops over the integers of sparse sequences. */
#ifndef IMREC_FORMATS_CBF_INDEX_CHECK_H
#define IMREC_FORMATS_CBF_INDEX_CHECK_H

#include "base/bytes.h"
#include "base/cpu.h"

/* The largest of n little-endian u32 at p, which may be unaligned; 0 if n is 0. As an unsigned
 * number a negative index is larger than any dim. */
uint32_t index_largest(const uint8_t *p, size_t n);
/* Sum of n little-endian u32. */
uint64_t index_sum(const uint8_t *p, size_t n);

struct index_variant {
    const char *name;
    enum cpu_level level;
    uint32_t (*largest)(const uint8_t *p, size_t n);
    uint64_t (*sum)(const uint8_t *p, size_t n);
};
extern const struct index_variant index_variants[]; /* the first is the scalar reference */
extern const size_t index_variant_count;
#endif
