/*
 * tests/parallel/model/scenarios.c - ring, ordered map and prefetcher, their own source, in every
 * order of their threads.
 *
 * model_parallel [SCENARIO]: prints of each how many states and interleavings there are; exits with
 * 1 at the first check that fails, with the order that leads there.
 */
#include "imrec/prefetch.h"
#include "parallel/ordered.h"
#include "parallel/ring.h"
#include "tests/parallel/model/model.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 2, ITEMS = 4, PLACES = 2, TASKS = 2 };

static struct world {
    struct ring ring;
    struct thread threads[6];
    uint32_t reserved[ITEMS + 4], taken[ITEMS + 4]; /* how often */
    uint32_t all_taken, items;                      /* of each producer */
    enum { EMPTY, FILLING, FULL, USED } cells[DEPTH + 1];
    uint64_t values[DEPTH + 1];
    struct ordered *ordered;
    bool feeding, draining, failed, working[2];
    uint32_t fed, stop_at, drained, fail_at, worked[ITEMS + 4];
    uint32_t tasks[PLACES]; /* given out */
    uint32_t first[PLACES]; /* number of the first task of the place */
    struct mutex lock;      /* of tasks that a worker has several of */
    struct cond first_done;
    struct imrec_prefetch *prefetch;
} * w;

static void begin(void)
{
    w = model_memory(sizeof(*w));
    memset(w, 0, sizeof(*w));
}

static void start(uint32_t i, void *(*run)(void *))
{
    model_check(thread_start(&w->threads[i], "", run, &w->threads[i], NULL) == IMREC_OK,
                "no thread");
}

static void join(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        thread_join(&w->threads[i]);
}

/* ---- the ring
 * -------------------------------------------------------------------------------------- */

static void *producer(void *arg)
{
    uint64_t n;
    (void)arg;
    for (uint32_t i = 0; i < w->items; i++) {
        if (ring_reserve(&w->ring, &n) != IMREC_OK)
            return NULL;
        model_check(++w->reserved[n] == 1, "a number is reserved twice");
        model_check(w->ring.reserved - w->ring.recycled <= w->ring.depth,
                    "more cells are in use than there are");
        ring_publish(&w->ring, n);
    }
    return NULL;
}

/* Numbers alone: whose cell is whose does not matter to two consumers. */
static bool consume(uint64_t *n)
{
    if (ring_take(&w->ring, n) != IMREC_OK)
        return false;
    model_check(w->reserved[*n] == 1, "a number is taken that nobody has published");
    model_check(++w->taken[*n] == 1, "a number is taken twice");
    ring_recycle(&w->ring);
    return true;
}

static void *consumer(void *arg)
{
    uint64_t n;
    (void)arg;
    while (consume(&n))
        continue;
    return NULL;
}

/* Who takes the last one closes the ring. */
static void *closing_consumer(void *arg)
{
    uint64_t n;
    (void)arg;
    while (consume(&n)) {
        model_point("counts");
        if (++w->all_taken == 2 * w->items)
            ring_cancel(&w->ring);
    }
    return NULL;
}

static void *canceller(void *arg)
{
    (void)arg;
    ring_cancel(&w->ring);
    return NULL;
}

static void ring_world(uint32_t depth, uint32_t items)
{
    begin();
    w->items = items;
    model_check(ring_init(&w->ring, depth, NULL) == IMREC_OK, "no ring");
}

static void close_ring(uint32_t depth, uint32_t items)
{
    ring_world(depth, items);
    start(0, producer);
    start(1, producer);
    start(2, closing_consumer);
    start(3, closing_consumer);
    join(0, 4);
    for (uint32_t i = 0; i < 2 * items; i++)
        model_check(w->taken[i] == 1, "a number was lost");
    ring_destroy(&w->ring);
}

static void ring_closed(void)
{
    close_ring(DEPTH, ITEMS / 2);
}

static void ring_of_one(void)
{
    close_ring(1, 1);
}

static void ring_cancelled(void)
{
    ring_world(1, 1);
    start(0, producer);
    start(1, producer);
    start(2, consumer);
    start(3, consumer);
    start(4, canceller);
    join(0, 5);
    ring_destroy(&w->ring);
}

/* One consumer, with the cells' memory: what it uses nobody fills. */
static void *filler(void *arg)
{
    uint64_t n;
    (void)arg;
    for (uint32_t i = 0; i < w->items; i++) {
        if (ring_reserve(&w->ring, &n) != IMREC_OK)
            return NULL;
        model_check(w->cells[n % DEPTH] == EMPTY, "a cell is filled that is in use");
        w->cells[n % DEPTH] = FILLING;
        model_point("fills");
        w->cells[n % DEPTH] = FULL;
        w->values[n % DEPTH] = n;
        ring_publish(&w->ring, n);
    }
    return NULL;
}

static void ring_cells(void)
{
    uint64_t n;
    ring_world(DEPTH, ITEMS / 2);
    start(0, filler);
    start(1, filler);
    for (uint64_t i = 0; i < ITEMS; i++) {
        if (i == 1)
            (void)ring_wait(&w->ring, 10);
        if (!ring_try_take(&w->ring, &n))
            model_check(ring_take(&w->ring, &n) == IMREC_OK, "cancelled by nobody");
        model_check(n == i, "out of order");
        model_check(w->cells[n % DEPTH] == FULL && w->values[n % DEPTH] == n,
                    "a cell that is not full");
        w->cells[n % DEPTH] = USED;
        model_point("uses");
        w->cells[n % DEPTH] = EMPTY;
        ring_recycle(&w->ring);
    }
    join(0, 2);
    ring_destroy(&w->ring);
}

/* ---- the ordered map
 * ----------------------------------------------------------------------------------- */

static enum ordered_step feed(void *context, const struct ordered_task *t, uint32_t worker)
{
    (void)context, (void)worker;
    model_check(!w->feeding, "two feeds at once");
    w->feeding = true;
    model_point("feeds");
    w->feeding = false;
    w->tasks[t->place] = t->slot;
    if (t->slot == 0)
        w->first[t->place] = w->fed;
    if (w->fed == w->stop_at)
        return ORDERED_STOP;
    if (t->slot == TASKS)
        return ORDERED_CLOSE;
    w->fed++;
    w->tasks[t->place]++;
    return t->slot + 1 == TASKS && w->fed % 2 == 0 ? ORDERED_LAST : ORDERED_TASK;
}

static void work(void *context, const struct ordered_task *t, uint32_t worker)
{
    (void)context;
    model_check(worker < 2 && !w->working[worker], "a worker does two things at once");
    w->working[worker] = true;
    model_point("works");
    w->working[worker] = false;
    w->worked[w->first[t->place] + t->slot]++;
}

/* The place is done, and the next one in order. */
static void check_place(uint32_t place)
{
    model_check(w->first[place] == w->drained, "a place that is not the next one");
    for (uint32_t i = 0; i < w->tasks[place]; i++)
        model_check(w->worked[w->drained + i] == 1, "a place with a task that is not done once");
    w->drained += w->tasks[place];
}

static enum imrec_status drain(void *context, uint32_t place, struct imrec_error *err)
{
    (void)context, (void)err;
    model_check(!w->draining, "two drains at once");
    w->draining = true;
    model_point("drains");
    w->draining = false;
    model_check(!w->failed, "drained after the error");
    w->failed = w->drained == w->fail_at;
    if (w->failed)
        return IMREC_ERR_DATA;
    check_place(place);
    return IMREC_OK;
}

static struct ordered_options options(uint32_t stop_at)
{
    begin();
    w->stop_at = stop_at;
    w->fail_at = UINT32_MAX;
    return (struct ordered_options){.feed = feed,
                                    .work = work,
                                    .tasks = TASKS,
                                    .places = PLACES,
                                    .workers = 2,
                                    .name = "threads"};
}

static void run_to_its_end(uint32_t wake_at)
{
    struct ordered_options o = options(5);
    o.drain = drain;
    o.wake_at = wake_at;
    model_check(ordered_run(&o, NULL) == IMREC_OK, "fails");
    model_check(w->drained == 5, "a task was lost");
}

static void ordered_drained(void)
{
    run_to_its_end(0);
}

static void ordered_drained_late(void)
{
    run_to_its_end(PLACES);
}

static void ordered_failing(void)
{
    struct ordered_options o = options(ITEMS + 4);
    o.drain = drain;
    w->fail_at = 2;
    model_check(ordered_run(&o, NULL) == IMREC_ERR_DATA, "the error of drain is lost");
    model_check(w->drained == 2, "drained after the error");
}

static void take_one(uint32_t tasks)
{
    uint32_t place;
    model_check(ordered_take(w->ordered, &place) == IMREC_OK, "cancelled by nobody");
    model_check(w->tasks[place] == tasks, "a place of another size");
    check_place(place);
    model_point("uses");
    ordered_recycle(w->ordered);
}

static void ordered_taken(void)
{
    const struct ordered_options o = options(3);
    model_check(ordered_start(&o, &w->ordered, NULL) == IMREC_OK, "no workers");
    take_one(2);
    take_one(1);
    ordered_stop(w->ordered);
}

/* Stopped while workers are in the middle of it. */
static void ordered_stopped(void)
{
    const struct ordered_options o = options(ITEMS + 2);
    model_check(ordered_start(&o, &w->ordered, NULL) == IMREC_OK, "no workers");
    take_one(2);
    ordered_stop(w->ordered);
}

static void *ordered_canceller(void *arg)
{
    (void)arg;
    ordered_cancel(w->ordered);
    return NULL;
}

static void ordered_cancelled(void)
{
    uint32_t place;
    const struct ordered_options o = options(3);
    model_check(ordered_start(&o, &w->ordered, NULL) == IMREC_OK, "no workers");
    start(0, ordered_canceller);
    while (ordered_take(w->ordered, &place) == IMREC_OK) {
        check_place(place);
        ordered_recycle(w->ordered);
    }
    join(0, 1);
    ordered_stop(w->ordered);
}

static void ordered_stopped_in_a_pause(void)
{
    const struct ordered_options o = options(ITEMS + 4);
    model_check(ordered_start(&o, &w->ordered, NULL) == IMREC_OK, "no workers");
    ordered_pause(w->ordered);
    ordered_stop(w->ordered);
}

/* Another stream after the pause: nothing of the first one is in it. */
static void ordered_paused(void)
{
    const struct ordered_options o = options(ITEMS + 4);
    model_check(ordered_start(&o, &w->ordered, NULL) == IMREC_OK, "no workers");
    ordered_pause(w->ordered);
    model_check(!w->feeding && !w->working[0] && !w->working[1], "paused, and somebody works");
    w->fed = w->drained = 0;
    w->stop_at = 2;
    memset(w->worked, 0, sizeof(w->worked));
    ordered_resume(w->ordered);
    take_one(2);
    ordered_stop(w->ordered);
}

/* One of the workers has up to two tasks; the feed of the third waits until the first is done, and
 * says so.
 */

static void wait_for_first(void)
{
    mutex_lock(&w->lock);
    while (w->worked[0] == 0)
        cond_wait(&w->first_done, &w->lock);
    mutex_unlock(&w->lock);
}

static enum ordered_step feed_late(void *context, const struct ordered_task *t, uint32_t worker)
{
    if (w->fed == 2)
        wait_for_first();
    return feed(context, t, worker);
}

static bool is_fed(void *context, uint32_t worker)
{
    (void)context, (void)worker;
    return w->fed != 2;
}

static void do_one(const struct ordered_task *t, uint32_t worker, struct ordered *ordered)
{
    mutex_lock(&w->lock);
    work(NULL, t, worker);
    cond_wake_all(&w->first_done);
    mutex_unlock(&w->lock);
    ordered_done(ordered, t);
}

static void
work_on(void *context, const struct ordered_task *first, uint32_t worker, struct ordered *ordered)
{
    struct ordered_task second;
    (void)context;
    if (worker == 0 && ordered_more(ordered, &second, worker))
        do_one(&second, worker, ordered);
    do_one(first, worker, ordered);
}

static void ordered_several(void)
{
    struct ordered_options o = options(3);
    o.feed = feed_late;
    o.work_on = work_on;
    o.is_fed = is_fed;
    mutex_init(&w->lock);
    cond_init(&w->first_done);
    model_check(ordered_start(&o, &w->ordered, NULL) == IMREC_OK, "no workers");
    take_one(2);
    take_one(1);
    ordered_stop(w->ordered);
}

/* ---- the prefetcher
 * ------------------------------------------------------------------------------------ */

static enum imrec_status
produce(void *context, void *cell, uint64_t number, struct imrec_error *err)
{
    (void)context, (void)err;
    if (number >= 2)
        return IMREC_END;
    *(uint64_t *)cell = UINT64_MAX;
    model_point("produces");
    *(uint64_t *)cell = number;
    return IMREC_OK;
}

static void open_prefetcher(void)
{
    struct imrec_prefetch_options o;
    begin();
    imrec_prefetch_options_init(&o);
    o.produce = produce;
    o.cell_bytes = sizeof(uint64_t);
    o.depth = 1;
    o.threads = 2;
    model_check(imrec_prefetch_open(&o, &w->prefetch, NULL) == IMREC_OK, "no prefetcher");
}

static enum imrec_status next_item(uint64_t i)
{
    void *cell;
    uint64_t number = UINT64_MAX;
    const enum imrec_status st = imrec_prefetch_next(w->prefetch, &cell, &number, NULL);
    if (st == IMREC_OK) {
        model_check(number == i, "an item out of order");
        model_point("uses");
        model_check(*(uint64_t *)cell == i, "a cell that is not its item");
    }
    return st;
}

static void prefetched(void)
{
    open_prefetcher();
    for (uint64_t i = 0; i < 2; i++)
        model_check(next_item(i) == IMREC_OK, "an item is missing");
    model_check(next_item(2) == IMREC_END, "no end");
    imrec_prefetch_close(w->prefetch);
}

static void prefetch_closed(void)
{
    open_prefetcher();
    (void)next_item(0);
    imrec_prefetch_close(w->prefetch);
}

static void *prefetch_canceller(void *arg)
{
    (void)arg;
    imrec_prefetch_cancel(w->prefetch);
    return NULL;
}

static void prefetch_cancelled(void)
{
    open_prefetcher();
    start(0, prefetch_canceller);
    for (uint64_t i = 0; next_item(i) == IMREC_OK; i++)
        continue;
    join(0, 1);
    imrec_prefetch_close(w->prefetch);
}

/* ---- all
 * -------------------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    void (*run)(void);
    const char *what;
} scenarios[] = {
    {"ring_closed", ring_closed, "2 producers, 2 consumers, the last item closes"},
    {"ring_of_one", ring_of_one, "the same with a single cell"},
    {"ring_cancelled", ring_cancelled, "2 producers, 2 consumers, cancelled at any time"},
    {"ring_cells", ring_cells, "2 producers, 1 consumer of their cells"},
    {"ordered_drained", ordered_drained, "2 workers that drain, 5 tasks"},
    {"ordered_drained_late", ordered_drained_late, "the same, woken for 2 places at once"},
    {"ordered_failing", ordered_failing, "2 workers, a drain that fails"},
    {"ordered_taken", ordered_taken, "2 workers, 1 consumer, 3 tasks"},
    {"ordered_several", ordered_several, "2 workers of several tasks, a feed that waits for one"},
    {"ordered_stopped", ordered_stopped, "2 workers, stopped in the middle"},
    {"ordered_in_a_pause", ordered_stopped_in_a_pause,
     "2 workers, paused at any time, stopped then"},
    {"ordered_cancelled", ordered_cancelled, "2 workers, 1 consumer, cancelled at any time"},
    {"ordered_paused", ordered_paused, "2 workers, paused at any time, another stream"},
    {"prefetched", prefetched, "2 producers, 1 consumer, to the end"},
    {"prefetch_closed", prefetch_closed, "the same, closed in the middle"},
    {"prefetch_cancelled", prefetch_cancelled, "the same, cancelled at any time"},
};

int main(int argc, char **argv)
{
    uint64_t states = 0;
    double orders = 0;
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (argc > 1 && strcmp(argv[1], scenarios[i].name) != 0)
            continue;
        const struct model_result r = model_run(scenarios[i].name, scenarios[i].run, 1);
        printf("%-21s %9llu states, %.4g interleavings of up to %u points: %s\n", scenarios[i].name,
               (unsigned long long)r.states, r.orders, r.longest, scenarios[i].what);
        fflush(stdout);
        states += r.states;
        orders += r.orders;
    }
    printf("%llu states, %.4g interleavings: all right\n", (unsigned long long)states, orders);
    return states != 0 ? 0 : 2;
}
