/* iter/stats.c - counts and times of the stages, and a sentence on what bounds the speed. */
#include "iter/state.h"

#include <stdio.h>

static const char *advise(const struct imrec_iter_stats *s)
{
    const uint64_t work = s->decode_ns + s->augment_ns;
    if (s->images == 0)
        return "nothing decoded yet";
    if (s->consumer_wait_ns > work / 2)
        return "consumer bound: batches are ready before they are asked for; fewer "
               "preprocess_threads would do";
    if (s->io_wait_ns > work / (s->workers != 0 ? s->workers : 1) / 2)
        return "I/O bound: workers wait for bytes; a faster store, keep_in_memory=1 or, on a hard "
               "disk, a larger shuffle_chunk helps";
    if (s->augment_ns > s->decode_ns)
        return "resize bound: pictures packed at the size that is needed would be faster";
    return "decode bound: more preprocess_threads on more cores would be faster";
}

void imrec_iter_get_stats(struct imrec_iter *it, struct imrec_iter_stats *out)
{
    *out = (struct imrec_iter_stats){
        .feed_ns = it->feed_ns,
        .io_wait_ns = it->supply.io_wait_ns,
        .next_wait_ns = it->next_wait_ns,
        .damaged_ranges = it->damages,
        .memory_bytes = iter_memory_in_use(it),
        .memory_planned_bytes = it->memory_planned,
        .workers = it->worker_count,
        .indexed = it->indexed,
    };
    if (it->supply.loader != NULL)
        out->bytes_read = loader_bytes_read(it->supply.loader);
    if (it->team != NULL)
        out->consumer_wait_ns = team_consumer_wait_ns(it->team);
    for (uint32_t i = 0; i < it->worker_count; i++) {
        const struct worker *w = &it->workers[i];
        out->decode_ns += w->decode_ns;
        out->augment_ns += w->augment_ns;
        out->images += w->images;
        out->failed += w->failed;
        out->decodes += w->decodes;
        out->views += w->made;
        out->replaced += w->replaced;
    }
    snprintf(out->advice, sizeof(out->advice), "%s", advise(out));
}
