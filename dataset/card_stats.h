/* dataset/card_stats.h - medians and label counts in memory that does not grow with the data. */
#ifndef IMREC_DATASET_CARD_STATS_H
#define IMREC_DATASET_CARD_STATS_H

#include "imrec/dataset.h"

/* Counts of values: exact below 1024, above in steps of 1 in 512 of the value. */
struct histogram {
    uint64_t *count;
    uint64_t n, min, max;
};
IMREC_NODISCARD enum imrec_status histogram_init(struct histogram *h, struct imrec_error *err);
void histogram_add(struct histogram *h, uint64_t value);
struct imrec_range histogram_range(const struct histogram *h);
void histogram_free(struct histogram *h); /* zeroed memory is fine */

struct label_count { /* open addressing; NaNs are one label, so are the zeros */
    struct imrec_label_count *slot;
    uint64_t slots, used;
    bool full; /* more than IMREC_CARD_LABELS: counting has ended */
};
IMREC_NODISCARD enum imrec_status
label_count_add(struct label_count *t, float label, struct imrec_error *err);
/* The table's memory as an ascending list, NaN last; the table is empty afterwards. */
struct imrec_label_count *label_count_take(struct label_count *t, uint64_t *count);
void label_count_free(struct label_count *t); /* zeroed memory is fine */
#endif
