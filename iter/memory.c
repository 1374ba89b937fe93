/* iter/memory.c - what these options will need, before anything of it is taken. */
#include "base/error.h"
#include "iter/split/cbf_pictures.h"
#include "iter/state.h"

static uint64_t kept(const struct imrec_iter *it)
{
    return it->options.keep_in_memory ? it->split.end - it->split.begin : 0;
}

static uint64_t index_bytes(const struct imrec_iter *it)
{
    return it->indexed ? it->split.unit_count * sizeof(struct indexed_record) +
                             cbf_pictures_memory(&it->split)
                       : 0;
}

enum imrec_status iter_plan_memory(struct imrec_iter *it, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    const uint64_t batches = slots_memory(o, &it->views), windows = supply_memory(&it->supply.plan);
    const uint64_t scratch = it->worker_count * HEADROOM_FREE_BYTES;
    const uint64_t index = index_bytes(it), keep = kept(it);
    if (batches == UINT64_MAX)
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET,
                              "data_shape and batch_size ask for a batch of over 1 TiB");
    it->memory_planned = batches + windows + scratch + index + keep;
    if (o->memory_limit == 0)
        return IMREC_OK;
    if (it->memory_planned <= (uint64_t)o->memory_limit) {
        headroom_limit(&it->headroom, (uint64_t)o->memory_limit, it->memory_planned,
                       it->worker_count);
        return IMREC_OK;
    }
    return imrec_error_at(
        err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET,
        "memory_limit is %lld bytes, but these options need %llu: %llu for %lld batches, %llu for "
        "windows and read-ahead, %llu for %u workers, %llu for the index, %llu kept in memory",
        (long long)o->memory_limit, (unsigned long long)it->memory_planned,
        (unsigned long long)batches, (long long)o->prefetch_buffer + 1, (unsigned long long)windows,
        (unsigned long long)scratch, it->worker_count, (unsigned long long)index,
        (unsigned long long)keep);
}

uint64_t iter_memory_in_use(struct imrec_iter *it)
{
    uint64_t sum = slots_memory(&it->options, &it->views) + split_memory(&it->split) +
                   label_table_memory(&it->labels) + it->mean_image_bytes +
                   keeper_memory(it->keeper);
    if (it->supply.loader != NULL)
        sum += loader_memory(it->supply.loader);
    return sum;
}
