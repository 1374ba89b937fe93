/* iter/split/count.c - how many records each partition holds. */
#include "base/error.h"
#include "iter/split/dataset.h"
#include "iter/split/scan.h"

static enum imrec_status count_range(struct scan *scan, const struct split *s, struct split_range r,
                                     uint64_t *count, struct imrec_error *err)
{
    struct walk_item item;
    enum walk_step step;
    scan_begin(scan, s->shards[r.shard].source, r.begin, r.end, r.begin == 0);
    do {
        IMREC_TRY(scan_next(scan, &step, &item, err));
        *count += step == WALK_RECORD;
    } while (step != WALK_END);
    return IMREC_OK;
}

static enum imrec_status
count_parts(struct scan *scan, const struct split *s, uint64_t *counts, struct imrec_error *err)
{
    for (uint64_t p = 0; p < s->options.num_parts; p++) {
        const uint64_t begin = split_part_begin(s, p), end = split_part_begin(s, p + 1);
        counts[p] = 0;
        for (uint32_t i = 0; i < s->shard_count; i++) {
            const struct split_range r = split_clip(s, i, begin, end);
            if (r.begin < r.end)
                IMREC_TRY(count_range(scan, s, r, &counts[p], err));
        }
    }
    return IMREC_OK;
}

enum imrec_status split_count(const struct split *s, uint64_t *counts, struct imrec_error *err)
{
    if (s->records != NULL) {
        for (uint64_t p = 0; p < s->options.num_parts; p++)
            counts[p] = split_part_begin(s, p + 1) - split_part_begin(s, p);
        return IMREC_OK;
    }
    struct scan scan = {0};
    const enum imrec_status st = count_parts(&scan, s, counts, err);
    scan_end(&scan);
    return st;
}
