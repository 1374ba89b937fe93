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
    for (uint32_t i = 0; i < container->shard_count; i++)
        if (container->shards[i].source->at_once > p.threads)
            p.threads = container->shards[i].source->at_once;
    p.far_bytes = p.threads > DISK_THREADS ? p.threads * SOURCE_FAR_BYTES : 0;
    p.windows = windows_plan(container->unit_count, unit, most, first);
    const uint64_t held =
        container->end - container->begin; /* a small partition needs no large arena */
    p.arena_bytes = o->indexed ? most : min_u64(most, held) + unit;
    if (p.far_bytes != 0 && !o->indexed) /* a cell is read with the rest of its last record */
        p.arena_bytes += p.arena_bytes / 4;
    return p;
}

/* ---- callbacks of the loader: pure, any thread -------------------------------------------- */

static void extent(void *context, uint64_t number, uint64_t *first, uint64_t *count)
{
    const struct record_stream_plan *p = context;
    windows_extent(&p->windows, number, first, count);
}

static uint64_t unit_at(void *context, uint64_t sweep, uint64_t i)
{
    const struct record_stream_plan *p = context;
    if (!p->shuffle_units)
        return i;
    return permute((struct rng_key){p->seed, sweep}, p->windows.units, i);
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
