/* tests/parallel/model/stdatomic.h - in place of the compiler's: plain numbers, and a point before
 * each use. */
#ifndef IMREC_TESTS_MODEL_STDATOMIC_H
#define IMREC_TESTS_MODEL_STDATOMIC_H

#include "tests/parallel/model/model.h"

#include <stdint.h>

typedef uint_least32_t atomic_uint_least32_t;
typedef uint_least64_t atomic_uint_least64_t;

static inline uint64_t model_minus32(uint32_t *p, uint32_t n)
{
    model_point("subtracts");
    *p -= n;
    return *p + n;
}

static inline uint64_t model_plus64(uint64_t *p, uint64_t n)
{
    *p += n; /* statistics: nobody decides anything by them */
    return *p - n;
}

#define atomic_fetch_sub(p, n) ((uint32_t)model_minus32((p), (n)))
#define atomic_fetch_add(p, n) model_plus64((p), (n))
#define atomic_load(p)         (model_point("loads"), *(p))
#define atomic_store(p, n)     (model_point("stores"), (void)(*(p) = (n)))
#endif
