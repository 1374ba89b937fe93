/* dataset/card_stats.c - medians and label counts in memory that does not grow with the data. */
#include "dataset/card_stats.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 1024, STEPS = 512, BUCKETS = EXACT + 54 * STEPS };

/* ---- histogram -------------------------------------------------------------------------- */

enum imrec_status histogram_init(struct histogram *h, struct imrec_error *err)
{
    *h = (struct histogram){.min = UINT64_MAX};
    h->count = imrec_zalloc(BUCKETS, sizeof(*h->count));
    return h->count == NULL ? IMREC_NO_MEMORY(err, "no memory for a median") : IMREC_OK;
}

/* A value of 2^e .. 2^(e+1) - 1, e >= 10, falls into one of 512 buckets by its leading bits. */
static size_t bucket_of(uint64_t value)
{
    if (value < EXACT)
        return (size_t)value;
    const int e = 63 - __builtin_clzll(value);
    return EXACT + (size_t)(e - 10) * STEPS + (size_t)((value >> (e - 9)) - STEPS);
}

static uint64_t bucket_begin(size_t bucket)
{
    if (bucket < EXACT)
        return bucket;
    const size_t above = bucket - EXACT;
    return (uint64_t)(STEPS + above % STEPS) << (above / STEPS + 1);
}

void histogram_add(struct histogram *h, uint64_t value)
{
    h->count[bucket_of(value)]++;
    h->n++;
    h->min = value < h->min ? value : h->min;
    h->max = value > h->max ? value : h->max;
}

struct imrec_range histogram_range(const struct histogram *h)
{
    uint64_t seen = 0, median;
    size_t b = 0;
    if (h->n == 0)
        return (struct imrec_range){0};
    while ((seen += h->count[b]) <= (h->n - 1) / 2)
        b++;
    median = bucket_begin(b);
    return (struct imrec_range){h->min, median < h->min ? h->min : median, h->max};
}

void histogram_free(struct histogram *h)
{
    imrec_free(h->count);
    *h = (struct histogram){0};
}

/* ---- labels ----------------------------------------------------------------------------- */

static float canonical(float label)
{
    return isnan(label) ? NAN : label == 0 ? 0.0f : label;
}

/* NaN is larger than everything and equal to itself. */
static int compare(float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static struct imrec_label_count *find_slot(const struct label_count *t, float label)
{
    uint32_t bits;
    memcpy(&bits, &label, sizeof(bits));
    uint64_t i = bits * UINT64_C(0x9e3779b97f4a7c15) >> (64 - __builtin_ctzll(t->slots));
    for (;; i++) {
        struct imrec_label_count *s = &t->slot[i & (t->slots - 1)];
        if (s->records == 0 || compare(s->label, label) == 0)
            return s;
    }
}

static enum imrec_status grow(struct label_count *t, struct imrec_error *err)
{
    struct label_count larger = {.slots = t->slots == 0 ? 64 : 2 * t->slots, .used = t->used};
    larger.slot = imrec_zalloc(larger.slots, sizeof(*larger.slot));
    if (larger.slot == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %llu labels", (unsigned long long)larger.slots);
    for (uint64_t i = 0; i < t->slots; i++)
        if (t->slot[i].records != 0)
            *find_slot(&larger, t->slot[i].label) = t->slot[i];
    imrec_free(t->slot);
    *t = larger;
    return IMREC_OK;
}

enum imrec_status label_count_add(struct label_count *t, float label, struct imrec_error *err)
{
    if (t->full)
        return IMREC_OK;
    if (2 * t->used >= t->slots)
        IMREC_TRY(grow(t, err));
    struct imrec_label_count *s = find_slot(t, canonical(label));
    if (s->records == 0) {
        t->full = t->used == IMREC_CARD_LABELS;
        s->label = canonical(label);
        t->used++;
    }
    s->records++;
    return IMREC_OK;
}

static int by_label(const void *a, const void *b)
{
    return compare(((const struct imrec_label_count *)a)->label,
                   ((const struct imrec_label_count *)b)->label);
}

struct imrec_label_count *label_count_take(struct label_count *t, uint64_t *count)
{
    struct imrec_label_count *list = t->slot;
    uint64_t n = 0;
    for (uint64_t i = 0; i < t->slots; i++)
        if (list[i].records != 0)
            list[n++] = list[i];
    if (n != 0)
        qsort(list, n, sizeof(*list), by_label);
    *count = n;
    *t = (struct label_count){0};
    return list;
}

void label_count_free(struct label_count *t)
{
    imrec_free(t->slot);
    *t = (struct label_count){0};
}
