/* im2rec/list/python_random.h - the shuffle of CPython's random.Random(seed), with which MXNet's
 * im2rec.py orders its lists: equal seed and count, equal order, on every machine.
 *
 * Generator: MT19937 (Matsumoto, Nishimura 1998), seeded by init_by_array() with the 32-bit words
 * of the seed. Numbers below n: the top bits of a draw, drawn again while they are n or more. */
#ifndef IMREC_IM2REC_LIST_PYTHON_RANDOM_H
#define IMREC_IM2REC_LIST_PYTHON_RANDOM_H

#include <stdint.h>

#define MT_WORDS 624

struct python_random {
    uint32_t state[MT_WORDS], at;
};

void python_random_seed(struct python_random *r, uint64_t seed);
uint32_t python_random_bits(struct python_random *r, uint32_t bits); /* getrandbits(1..32) */
uint32_t python_random_below(struct python_random *r, uint32_t n);   /* randrange(n), n > 0 */
#endif
