/* iter/options/mix_sets.h - the texts of mix and mix_label_offset: sets, each with its weight. */
#ifndef IMREC_ITER_OPTIONS_MIX_SETS_H
#define IMREC_ITER_OPTIONS_MIX_SETS_H

#include "imrec/error.h"

#include <stdint.h>

struct mix_set {
    char *uri;
    double weight; /* finite, above 0 */
    double share;  /* of all weights */
    float label_offset;
    uint32_t first_shard; /* the caller's */
};
struct mix_sets {
    struct mix_set *set;
    uint64_t count, room;
    char *all; /* what path_imgrec is then: "a.rec;b.rec" */
};

/* "URI:WEIGHT,URI:WEIGHT", the last colon of an element counts; offsets: "" or a number for each
 * set. IMREC_ERR_ARGUMENT names the element. */
IMREC_NODISCARD enum imrec_status
mix_sets_parse(struct mix_sets *m, const char *mix, const char *offsets, struct imrec_error *err);
void mix_sets_free(struct mix_sets *m); /* zeroed memory is fine */
#endif
