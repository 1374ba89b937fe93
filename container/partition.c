/* container/partition.c - the partition, and the grid of cells. */
#include "container/partition.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"

/* Where part `index` of num_parts begins, in `total` bytes or records taken `align` at a time. */
static uint64_t part_begin(uint64_t total, uint64_t num_parts, uint64_t index, uint64_t align)
{
    uint64_t step = total / num_parts + (total % num_parts != 0);
    step += (align - step % align) % align;
    return step == 0 || index > total / step ? total : step * index;
}

uint64_t partition_first_record(const struct container *c, uint64_t index)
{
    return part_begin(c->record_total, c->options.num_parts, index, 1);
}

uint64_t partition_deal(uint64_t n, uint64_t parts, uint64_t index)
{
    return n / parts * index + min_u64(n % parts, index);
}

uint32_t partition_first_shard(const struct container *c, uint64_t index)
{
    return (uint32_t)partition_deal(c->shard_count, c->options.num_parts, index);
}

static uint64_t shard_begin(const struct container *c, uint32_t shard)
{
    return shard == c->shard_count ? c->total_bytes : c->shards[shard].begin;
}

uint64_t partition_begin(const struct container *c, uint64_t index)
{
    if (container_is_listed(c))
        return partition_first_record(c, index);
    return c->kind->walk != NULL
               ? shard_begin(c, partition_first_shard(c, index))
               : part_begin(c->total_bytes, c->options.num_parts, index, c->kind->align);
}

struct unit_range
partition_clip(const struct container *c, uint32_t shard, uint64_t begin, uint64_t end)
{
    const struct shard *h = &c->shards[shard];
    uint64_t from = begin > h->begin ? begin - h->begin : 0;
    uint64_t to = end > h->begin ? end - h->begin : 0;
    /* A shard may begin at any byte of the whole. */
    from = align_up(from, c->kind->align) < h->size ? align_up(from, c->kind->align) : h->size;
    to = align_up(to, c->kind->align) < h->size ? align_up(to, c->kind->align) : h->size;
    return (struct unit_range){shard, from, to < from ? from : to};
}

static uint32_t shard_of_cell(const struct container *c, uint64_t cell)
{
    return (uint32_t)first_at_least(c->cell_base, sizeof(*c->cell_base), 0, c->shard_count,
                                    cell + 1) -
           1; /* cell_base[it] <= cell < cell_base[it + 1] */
}

struct unit_range partition_cell(const struct container *c, uint64_t cell)
{
    const uint32_t shard = shard_of_cell(c, cell);
    const struct unit_range all = partition_clip(c, shard, c->begin, c->end);
    const uint64_t grid = c->options.cell_bytes;
    const uint64_t number = all.begin / grid + (cell - c->cell_base[shard]);
    const uint64_t begin = number * grid, left = all.end - begin;
    return (struct unit_range){shard, begin > all.begin ? begin : all.begin,
                               left < grid ? all.end : begin + grid};
}

enum imrec_status partition_grid(struct container *c, struct imrec_error *err)
{
    const uint64_t grid = c->options.cell_bytes;
    c->cell_base = imrec_zalloc((size_t)c->shard_count + 1, sizeof(*c->cell_base));
    if (c->cell_base == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the grid of cells");
    for (uint32_t i = 0; i < c->shard_count; i++) {
        const struct unit_range r = partition_clip(c, i, c->begin, c->end);
        const uint64_t cells = r.begin == r.end ? 0 : (r.end - 1) / grid - r.begin / grid + 1;
        c->cell_base[i + 1] = c->cell_base[i] + cells;
    }
    c->unit_count = c->cell_base[c->shard_count];
    return IMREC_OK;
}
