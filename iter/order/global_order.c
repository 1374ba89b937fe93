/* iter/order/global_order.c - the sequence of a job's samples. */
#include "iter/order/global_order.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "iter/order/permute.h"

#define NOT_LISTED UINT64_MAX

/* ---- cells -------------------------------------------------------------------------------- */

#define PLACES 1024u /* located at once */

static enum imrec_status
add_cell(struct global_order *g, uint64_t *room, uint64_t first, struct imrec_error *err)
{
    if (!IMREC_GROW(g->cell_first, *room, g->cells + 1))
        return IMREC_NO_MEMORY(err, "no memory for an order of %llu cells",
                               (unsigned long long)g->cells);
    g->cell_first[g->cells] = first;
    return IMREC_OK;
}

/* The cells that have records. In one pass: an index that is looked up may be another one by the
 * next. */
static enum imrec_status find_cells(struct global_order *g, const struct container *c,
                                    uint64_t cell_bytes, struct imrec_error *err)
{
    struct record_place p[PLACES];
    uint32_t shard = UINT32_MAX;
    uint64_t room = 0, last = 0;
    for (uint64_t i = 0; i < c->unit_count; i += PLACES) {
        const size_t n = (size_t)min_u64(PLACES, c->unit_count - i);
        for (size_t k = 0; k < n; k++)
            p[k].number = i + k;
        IMREC_TRY(container_locate(c, p, n, err));
        for (size_t k = 0; k < n; k++) {
            const uint64_t cell = container_cell_of(c, &p[k], cell_bytes);
            if (p[k].shard == shard && cell == last)
                continue;
            shard = p[k].shard;
            last = cell;
            IMREC_TRY(add_cell(g, &room, i + k, err));
            g->cells++;
        }
    }
    return add_cell(g, &room, c->unit_count, err);
}

enum imrec_status global_order_init(struct global_order *g, const struct global_order *o,
                                    const struct container *c, uint64_t cell_bytes,
                                    struct imrec_error *err)
{
    *g = *o;
    g->listed = NOT_LISTED;
    g->chunks = cell_bytes != 0;
    if (!g->chunks)
        return IMREC_OK;
    IMREC_TRY(find_cells(g, c, cell_bytes, err));
    g->list = imrec_zalloc((size_t)g->cells, sizeof(*g->list));
    return g->list != NULL ? IMREC_OK
                           : IMREC_NO_MEMORY(err, "no memory for an order of %llu cells",
                                             (unsigned long long)g->cells);
}

uint64_t global_order_memory(const struct global_order *g)
{
    return sampling_memory(&g->sampling) + (g->chunks ? (2 * g->cells + 1) * sizeof(*g->list) : 0);
}

void global_order_free(struct global_order *g)
{
    sampling_free(&g->sampling);
    IMREC_FREE(g->cell_first, g->list);
    g->cell_first = g->list = NULL;
}

/* ---- the list ----------------------------------------------------------------------------- */

static void list_cells(struct global_order *g, struct rng_key key)
{
    uint64_t place = 0;
    for (uint64_t i = 0; i < g->cells; i++) {
        const uint64_t cell = permute(key, g->cells, i);
        g->list[i] = place;
        place += g->cell_first[cell + 1] - g->cell_first[cell];
    }
    g->listed = key.sweep;
}

static uint64_t record_at(struct global_order *g, struct rng_key key, uint64_t place)
{
    uint64_t low = 0, high = g->cells; /* list[low] <= place < list[high] */
    if (g->listed != key.sweep)
        list_cells(g, key);
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (g->list[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return g->cell_first[permute(key, g->cells, low)] + (place - g->list[low]);
}

/* The place in the list of a sample: of batch t of the window, slot j, it is in the j-th run. */
static uint64_t place_of(const struct global_order *g, struct rng_key key, uint64_t sample)
{
    const uint64_t window = global_order_window_of(g, sample);
    uint64_t first, count;
    global_order_window(g, window, &first, &count);
    const uint64_t batch = g->share.batch, t = (sample - first) / batch,
                   j = (sample - first) % batch;
    const uint64_t run = count / batch, longer = count % batch; /* the first runs, by one */
    const struct rng_key own = {rng_block(key, window, j, 0, RNG_RECORD_ORDER).v[0], key.sweep};
    return first + j * run + min_u64(j, longer) + permute(own, run + (j < longer), t);
}

uint64_t global_order_record(struct global_order *g, uint64_t sweep, uint64_t sample)
{
    const struct rng_key key = {g->seed, sweep};
    if (g->sampling.distinct != 0)
        return sampling_at(&g->sampling, g->seed, sweep, sample).record;
    if (!g->shuffle)
        return sample;
    return g->chunks ? record_at(g, key, place_of(g, key, sample))
                     : permute(key, g->share.records, sample);
}

uint64_t global_order_lap(const struct global_order *g, uint64_t sweep, uint64_t sample)
{
    return g->sampling.distinct != 0 ? sampling_at(&g->sampling, g->seed, sweep, sample).lap : 0;
}

/* ---- windows ------------------------------------------------------------------------------ */

void global_order_window(const struct global_order *g, uint64_t number, uint64_t *first,
                         uint64_t *count)
{
    windows_extent(&g->windows, number, first, count);
    *first *= g->grain;
    *count = min_u64(*count * g->grain, g->share.records - *first);
}

uint64_t global_order_window_of(const struct global_order *g, uint64_t sample)
{
    return windows_at(&g->windows, sample / g->grain);
}
