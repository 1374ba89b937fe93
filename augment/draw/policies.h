/* augment/draw/policies.h - what AutoAugment (Cubuk et al. 2018) has found. */
#ifndef IMREC_AUGMENT_DRAW_POLICIES_H
#define IMREC_AUGMENT_DRAW_POLICIES_H

#include <stdint.h>

enum { POLICY_PAIRS = 25 };

struct policy_op {
    uint8_t op;     /* enum imrec_op */
    uint8_t tenths; /* probability */
    uint8_t bin;    /* strength, 0..9 */
};
/* Of enum imrec_policy, from IMREC_POLICY_IMAGENET on: pairs, as likely as each other. */
extern const struct policy_op policies[3][POLICY_PAIRS][2];
#endif
