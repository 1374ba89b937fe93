/* iter/stats.c - counts and times of the stages, a sentence on what bounds the speed, and the
 * memory that the options will need, before anything of it is taken. */
#include "base/error.h"
#include "container/set_sums.h"
#include "iter/state.h"

#include <stdio.h>

/* ---- memory --------------------------------------------------------------------------------- */

static uint64_t index_bytes(const struct imrec_iter *it)
{
    const uint64_t sums = set_sums_memory(&it->container) + global_order_memory(&it->global) +
                          shard_order_memory(&it->shard_order);
    return it->indexed ? container_table_memory(&it->container) +
                             container_state_memory(&it->container) + sums
                       : sums;
}

/* Of a worker. */
static uint64_t objects_bytes(const struct imrec_iter *it)
{
    const uint64_t room = iter_object_room(it);
    return object_room_bytes((uint32_t)room) +
           view_kinds_count(&it->views) * room * sizeof(uint32_t);
}

/* Images side by side are given up where there is no memory for them. */
static uint64_t plan_together(struct imrec_iter *it, uint64_t others)
{
    const uint64_t limit = (uint64_t)it->options.memory_limit;
    const uint64_t bytes = it->worker_count * codec_together_claim();
    const bool fits = limit == 0 || (others <= limit && bytes <= limit - others);
    it->together = fits && iter_suits_together(it);
    return it->together ? bytes : 0;
}

enum imrec_status iter_plan_memory(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    const uint64_t slots = slots_memory(o, &it->views, it->label_width),
                   fields = batch_fields_memory(&it->fields),
                   batches = slots > UINT64_MAX - fields ? UINT64_MAX : slots + fields,
                   windows = (it->stream.plan.arena_bytes + it->stream.plan.table_bytes) *
                                 it->stream.plan.arenas +
                             it->stream.plan.far_bytes;
    const uint32_t samplers = 1 + (it->further.count != 0) + (it->tiles.kind_count != 0) +
                              (it->moves.kind_count != 0); /* of a worker, with their buffers */
    const uint64_t composed = mosaic_sampler_bytes(&it->tiles, it->label_width) +
                              paste_sampler_bytes(&it->moves, it->label_width);
    const uint64_t scratch = it->worker_count * ((uint64_t)samplers * HEADROOM_FREE_BYTES +
                                                 composed + objects_bytes(it));
    const uint64_t index = index_bytes(it);
    const uint64_t keep = o->keep_in_memory ? it->container.end - it->container.begin : 0;
    if (batches == UINT64_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "data_shape and batch_size ask for a batch of over 1 TiB");
    it->memory_planned = batches + windows + scratch + index + keep;
    it->memory_planned += plan_together(it, it->memory_planned);
    if (o->memory_limit == 0)
        return IMREC_OK;
    if (it->memory_planned <= (uint64_t)o->memory_limit) {
        headroom_limit(&it->headroom, (uint64_t)o->memory_limit, it->memory_planned,
                       samplers * it->worker_count);
        return IMREC_OK;
    }
    return imrec_fail(
        err, IMREC_ERR_LIMIT,
        "memory_limit is %lld bytes, but these options need %llu: %llu for %lld batches, %llu for "
        "windows and read-ahead, %llu for %u workers, %llu for index and checksums, %llu kept in "
        "memory",
        (long long)o->memory_limit, (unsigned long long)it->memory_planned,
        (unsigned long long)batches, (long long)o->prefetch_buffer + 1, (unsigned long long)windows,
        (unsigned long long)scratch, it->worker_count, (unsigned long long)index,
        (unsigned long long)keep);
}

static uint64_t memory_in_use(struct imrec_iter *it)
{
    uint64_t sum = slots_memory(&it->options, &it->views, it->label_width) +
                   batch_fields_memory(&it->fields) + container_memory(&it->container) +
                   global_order_memory(&it->global) + shard_order_memory(&it->shard_order) +
                   label_table_memory(&it->labels) + it->mean_image_bytes +
                   batch_lease_memory(it->lease);
    if (it->stream.loader != NULL)
        sum += loader_memory(it->stream.loader);
    return sum;
}

/* ---- counts --------------------------------------------------------------------------------- */

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
        return "resize bound: images packed at the size that is needed would be faster";
    return "decode bound: more preprocess_threads on more cores would be faster";
}

void iter_count_work(struct imrec_iter *it, struct imrec_iter_stats *out)
{
    out->feed_ns = it->feed_ns;
    out->io_wait_ns = it->stream.io_wait_ns;
    out->damaged_ranges = it->damages;
    if (it->stream.loader != NULL)
        out->bytes_read = loader_bytes_read(it->stream.loader);
    if (it->ordered != NULL)
        out->consumer_wait_ns = ordered_consumer_wait_ns(it->ordered);
    for (uint32_t i = 0; i < it->worker_count; i++) {
        const struct worker *w = &it->workers[i];
        out->decode_ns += w->decode_ns;
        out->augment_ns += w->augment_ns;
        out->images += w->images;
        out->failed += w->failed;
        out->decodes += w->decodes;
        out->views += w->made;
        out->replaced += w->replaced;
        out->self_checked += w->self_checked;
    }
}

void imrec_iter_get_stats(struct imrec_iter *it, struct imrec_iter_stats *out)
{
    *out = (struct imrec_iter_stats){
        .next_wait_ns = it->next_wait_ns,
        .memory_bytes = memory_in_use(it),
        .memory_planned_bytes = it->memory_planned,
        .workers = it->worker_count,
        .indexed = it->indexed,
    };
    iter_count_work(it, out);
    snprintf(out->advice, sizeof(out->advice), "%s", advise(out));
}

void imrec_iter_get_traffic_sized(struct imrec_iter *it, struct imrec_traffic *out, size_t size)
{
    traffic_read(&it->scope.traffic, out, size);
}
