/* minibatch/plan/minibatch_sizes.h - "128*2+1024": how large minibatches are in which epoch.
 *
 *     sizes = entry { ('+' | ':' | ',') entry }      blanks anywhere between
 *     entry = size [ '*' epochs ] | '[' size {',' size} ']' [ '*' epochs ] | '(' epochs ',' size
 * ')'. The whole may be in brackets; the last entry holds for all epochs that follow. */
#ifndef IMREC_MINIBATCH_PLAN_MINIBATCH_SIZES_H
#define IMREC_MINIBATCH_PLAN_MINIBATCH_SIZES_H

#include "imrec/error.h"

enum { MINIBATCH_SIZES_MAX = 256, MINIBATCH_SIZE_MAX = INT32_MAX };

struct minibatch_sizes {
    struct {
        uint64_t epochs, size;
    } entry[MINIBATCH_SIZES_MAX];
    uint32_t entries; /* at least 1 */
};

IMREC_NODISCARD enum imrec_status
minibatch_sizes_parse(const char *text, struct minibatch_sizes *out, struct imrec_error *err);
uint64_t minibatch_size(const struct minibatch_sizes *s, uint64_t epoch);
#endif
