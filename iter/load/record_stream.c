/* iter/load/record_stream.c - plan and loader put together.
 *
 * Shuffled without an index, two arenas share shuffle_window: the window in use and the one
 * being filled. In file order, and with an index, windows are small and several are read ahead. */
#include "iter/load/record_stream.h"

#include "base/error.h"
#include "base/math.h"
#include "iter/order/permute.h"
#include "iter/order/window_order.h"

#define FIRST_WINDOW_BYTES ((uint64_t)32 << 20) /* enough cells for a well-mixed first batch */
#define DISK_THREADS       4u                   /* at most */
#define CHUNK_BYTES        ((uint64_t)8 << 20)  /* a window in file order */
#define FIRST_CHUNK_BYTES  ((uint64_t)1 << 20)
#define GRID_BYTES         ((uint64_t)1 << 20) /* cells in file order: the first chunk is one */

uint64_t record_stream_cell_bytes(const struct record_stream_options *o, uint64_t shuffle_chunk)
{
    return o->shuffle ? shuffle_chunk & ~(uint64_t)3 : GRID_BYTES;
}

static uint64_t mean_record_bytes(const struct container *container)
{
    const uint64_t n = container->record_total;
    return n != 0 && container->total_bytes / n != 0 ? container->total_bytes / n : 1;
}

/* A window of records that are fetched has a call for each thread. */
static uint64_t calls_bytes(const struct container *c, uint64_t mean, uint64_t most)
{
    return max_u64(most, container_is_fetched(c) ? mean * c->at_once * c->threads : 0);
}

static uint64_t largest_window(const struct windows *w)
{
    uint64_t at, first, second = 0;
    windows_extent(w, 0, &at, &first);
    if (w->count > 1)
        windows_extent(w, 1, &at, &second);
    return max_u64(first, second);
}

/* Stores that answer many requests at once are asked so. */
static void read_far(struct record_stream_plan *p, const struct container *container)
{
    if (container_is_fetched(container)) {
        p->threads = container->threads;
        return;
    }
    for (uint32_t i = 0; i < container->shard_count; i++)
        if (container->shards[i].source->at_once > p->threads)
            p->threads = container->shards[i].source->at_once;
    p->far_bytes = p->threads > DISK_THREADS ? p->threads * SOURCE_FAR_BYTES : 0;
}

struct record_stream_plan record_stream_plan(const struct record_stream_options *o,
                                             const struct container *container,
                                             uint64_t shuffle_chunk)
{
    struct record_stream_plan p = {
        .seed = o->seed, .shuffle_units = o->shuffle, .by_record = o->indexed};
    const uint64_t unit =
        o->indexed ? mean_record_bytes(container) : record_stream_cell_bytes(o, shuffle_chunk);
    uint64_t most = CHUNK_BYTES, first = FIRST_CHUNK_BYTES;
    p.cell_bytes = unit;
    p.arenas = 4;
    p.threads = 1;
    if (o->indexed && o->shuffle) { /* records are read singly: several windows in flight */
        p.arenas = 8;
        p.threads = DISK_THREADS;
        most = CHUNK_BYTES / 2;
    } else if (o->shuffle) {
        p.shuffle_records = true;
        p.threads = 2; /* the second asks the disk for its next run while the first one copies */
        p.arenas = 2;
        most = o->shuffle_window / 2;
        first = min_u64(FIRST_WINDOW_BYTES, most);
    }
    read_far(&p, container);
    most = calls_bytes(container, unit, most);
    p.windows = windows_plan(container->unit_count, unit, most, first);
    const uint64_t held =
        container->end - container->begin; /* a small partition needs no large arena */
    p.arena_bytes = o->indexed ? most : min_u64(most, held) + unit;
    if (container_is_listed(container))
        p.table_bytes =
            loader_table_bytes(largest_window(&p.windows), o->shuffle || container->kind->apart);
    if (p.far_bytes != 0 && !o->indexed) /* a cell is read with the rest of its last record */
        p.arena_bytes += p.arena_bytes / 4;
    return p;
}

enum imrec_status record_stream_walk(struct record_stream *s, const struct container *container,
                                     struct shard_order *o, struct imrec_error *err)
{
    if (container_is_listed(container) || container->kind->walk == NULL || !s->plan.shuffle_units)
        return IMREC_OK;
    s->plan.shards = o;
    return shard_order_init(o, container, s->plan.seed, err);
}

/* ---- a job's order ------------------------------------------------------------------------- */

/* As many batches as make a window: every rank cuts the same ones. False: one holds all. */
static bool cut_chunks(struct global_order *o, uint64_t mean, uint64_t most)
{
    const uint64_t batch = o->share.batch;
    const uint64_t batch_bytes = mean > UINT64_MAX / batch ? UINT64_MAX : mean * batch;
    o->grain = batch;
    o->windows = windows_plan(ceil_div(o->share.records, batch), batch_bytes, most,
                              min_u64(FIRST_WINDOW_BYTES, most));
    return o->windows.count > 1;
}

/* Windows of single records shape no order: a rank's share of one is as large as without ranks. */
static void cut_records(struct global_order *o, uint64_t mean, uint64_t most, uint64_t first)
{
    const uint64_t ranks = o->share.batch / o->share.count;
    o->grain = 1;
    o->windows = windows_plan(o->share.records, mean, most * ranks, first * ranks);
}

/* Records of the share of the largest window, and one for what a phase adds. */
static uint64_t largest_share(const struct global_order *g)
{
    uint64_t first, count, second = 0;
    global_order_window(g, 0, &first, &count);
    if (g->windows.count > 1)
        global_order_window(g, 1, &first, &second);
    count = count > second ? count : second;
    return ceil_div(count, g->share.batch) * g->share.count + 1;
}

enum imrec_status record_stream_share(struct record_stream *s,
                                      const struct record_stream_options *o,
                                      const struct container *container, struct global_order *g,
                                      struct imrec_error *err)
{
    const uint64_t mean = mean_record_bytes(container);
    struct global_order order = {
        .share = g->share, .sampling = g->sampling, .seed = o->seed, .shuffle = o->shuffle};
    struct record_stream_plan p = {.seed = o->seed, .by_record = true, .global = g};
    const bool chunks =
        o->shuffle && o->chunk_bytes != 0 && cut_chunks(&order, mean, o->shuffle_window / 2);
    p.arenas = chunks ? 2 : o->shuffle ? 8 : 4;
    p.threads = chunks ? 2 : o->shuffle ? DISK_THREADS : 1;
    if (!chunks)
        cut_records(&order, mean,
                    calls_bytes(container, mean, o->shuffle ? CHUNK_BYTES / 2 : CHUNK_BYTES),
                    FIRST_CHUNK_BYTES);
    read_far(&p, container);
    p.windows = order.windows;
    p.arena_bytes = largest_share(&order) * mean;
    p.table_bytes = loader_table_bytes(largest_share(&order), o->shuffle || container->kind->apart);
    s->plan = p;
    return global_order_init(g, &order, container, chunks ? o->chunk_bytes : 0, err);
}

/* ---- callbacks of the loader: pure, any thread -------------------------------------------- */

static uint64_t phase_of(const struct global_order *g, const struct window *w)
{
    return share_phase(&g->share, w->sweep, w->shift);
}

static void extent(void *context, const struct window *w, uint64_t *first, uint64_t *count)
{
    const struct record_stream_plan *p = context;
    const struct global_order *g = p->global;
    if (g == NULL) {
        windows_extent(&p->windows, w->number, first, count);
        return;
    }
    const uint64_t phase = phase_of(g, w);
    uint64_t sample, n;
    global_order_window(g, w->number, &sample, &n);
    *first = share_before(&g->share, phase, sample);
    *count = share_before(&g->share, phase, sample + n) - *first;
}

static uint64_t unit_at(void *context, const struct window *w, uint64_t i)
{
    const struct record_stream_plan *p = context;
    struct global_order *g = p->global;
    if (g != NULL)
        return global_order_record(g, w->sweep, share_sample(&g->share, phase_of(g, w), i));
    if (!p->shuffle_units)
        return i;
    if (p->shards != NULL)
        return shard_order_cell(p->shards, w->sweep, i);
    return permute((struct rng_key){p->seed, w->sweep}, p->windows.units, i);
}

static void order(void *context, struct window *w)
{
    const struct record_stream_plan *p = context;
    if (p->shuffle_records)
        order_window(w->records, w->count, (struct rng_key){p->seed, w->sweep}, p->cell_bytes,
                     p->windows.count == 1);
}

/* ---- life -------------------------------------------------------------------------------- */

enum imrec_status
record_stream_start(struct record_stream *s, struct container *container, struct imrec_error *err)
{
    const struct loader_options o = {
        .container = container,
        .arenas = s->plan.arenas,
        .threads = s->plan.threads,
        .windows = s->plan.windows.count,
        .arena_bytes = s->plan.arena_bytes,
        .context = &s->plan,
        .extent = extent,
        .unit_at = unit_at,
        .order = order,
    };
    s->container = container;
    return loader_start(&o, 0, 0, &s->loader, err);
}

static void let_go(struct record_stream *s)
{
    if (s->window != NULL)
        loader_release(s->loader, s->window);
    s->window = NULL;
    s->i = 0;
}

static enum imrec_status enter_next(struct record_stream *s, struct imrec_error *err)
{
    let_go(s);
    uint64_t waited = 0;
    const enum imrec_status st = loader_take(s->loader, &s->window, &waited, err);
    atomic_fetch_add(&s->io_wait_ns, waited);
    IMREC_TRY(st);
    s->i = s->skip;
    s->skip = 0;
    s->entered = false;
    s->next_window++;
    if (s->next_window == s->plan.windows.count) {
        s->next_window = 0;
        s->next_sweep++;
    }
    if (s->window->count == 0)
        s->i = 0; /* of a partition without records: its samples are blank slots */
    if (s->i > s->window->count)
        return IMREC_REFUSE(err, "position: window %llu has %llu records, not %llu",
                            (unsigned long long)s->window->number,
                            (unsigned long long)s->window->count, (unsigned long long)s->i);
    return IMREC_OK;
}

enum imrec_status record_stream_more(struct record_stream *s, bool *more, struct imrec_error *err)
{
    for (;;) {
        if (s->window != NULL && !s->entered) {
            s->entered = true;
            s->on_window(s->context, s->window);
        }
        *more = s->window != NULL && s->i < s->window->count;
        if (*more || (s->window != NULL && s->window->number + 1 == s->plan.windows.count))
            return IMREC_OK;
        IMREC_TRY(enter_next(s, err));
    }
}

const struct record_ref *record_stream_take(struct record_stream *s)
{
    s->own++;
    return &s->window->records[s->i++];
}

void record_stream_go(struct record_stream *s, uint64_t sweep)
{
    s->sweep = sweep;
    if (s->window != NULL && s->window->sweep == sweep && s->window->number == 0) {
        s->i = 0; /* it is still here */
        s->entered = false;
        return;
    }
    record_stream_seek(s, sweep, 0, 0);
}

void record_stream_seek(struct record_stream *s, uint64_t sweep, uint64_t window, uint64_t skip)
{
    let_go(s);
    s->sweep = sweep;
    s->skip = skip;
    if (s->next_sweep == sweep && s->next_window == window)
        return; /* that is what comes anyhow */
    loader_seek(s->loader, sweep, window);
    s->next_sweep = sweep;
    s->next_window = window;
}

void record_stream_stand(struct record_stream *s, uint64_t sweep, uint64_t sample, uint64_t slot)
{
    const struct global_order *g = s->plan.global;
    const uint64_t shift = share_shift(&g->share, sweep, sample, slot);
    const uint64_t phase = share_phase(&g->share, sweep, shift);
    const uint64_t own = share_before(&g->share, phase, sample);
    const uint64_t window = global_order_window_of(g, sample);
    uint64_t first, count;
    if (s->sweep == sweep && s->shift == shift && s->own == own)
        return;
    if (s->shift != shift) { /* what was read ahead is another share */
        loader_shift(s->loader, shift);
        s->next_sweep = UINT64_MAX;
    }
    global_order_window(g, window, &first, &count);
    record_stream_seek(s, sweep, window, own - share_before(&g->share, phase, first));
    s->shift = shift;
    s->own = own;
}

static struct record_stream_spot find_record(const struct windows *w, uint64_t n)
{
    struct record_stream_spot spot = {.found = n <= w->units, .records = w->units};
    uint64_t count;
    if (spot.found) {
        spot.window = windows_at(w, n - 1);
        windows_extent(w, spot.window, &spot.before, &count);
    }
    return spot;
}

enum imrec_status record_stream_find(struct record_stream *s, uint64_t sweep, uint64_t n,
                                     struct record_stream_spot *out, struct imrec_error *err)
{
    *out = (struct record_stream_spot){.found = false};
    if (s->plan.by_record) {
        *out = find_record(&s->plan.windows, n);
        return IMREC_OK;
    }
    record_stream_seek(s, sweep, 0, 0);
    do {
        const enum imrec_status st = enter_next(s, err);
        if (st != IMREC_OK) {
            s->next_sweep = UINT64_MAX; /* the next seek reads again, wherever it goes */
            return st;
        }
        out->before = out->records;
        out->records += s->window->count;
        out->window = s->window->number;
        out->found = n <= out->records;
    } while (!out->found && s->next_window != 0);
    return IMREC_OK;
}

void record_stream_cancel(struct record_stream *s)
{
    if (s->loader == NULL)
        return;
    loader_cancel(s->loader);
    container_cancel(s->container);
}

void record_stream_stop(struct record_stream *s)
{
    if (s->loader == NULL)
        return;
    let_go(s);
    loader_stop(s->loader);
    s->loader = NULL;
}
