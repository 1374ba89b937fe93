/* iter/feed.c - the serial step: schedule and record stream say which record comes into which slot.
 *
 * Damage is reported with the batch that holds the first sample of its window; a window without
 * samples passes its damage on to the next sample, or to the end of the sweep. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "iter/order/job_walk.h"
#include "iter/state.h"

/* ---- damage ------------------------------------------------------------------------------ */

static void
describe_damage(const struct imrec_iter *it, const struct damage *d, struct imrec_error *why)
{
    const char *uri = it->container.shards[d->shard].uri;
    const unsigned long long begin = d->begin, end = d->end;
    if (d->kind == DAMAGE_UNLISTED && d->why.status == IMREC_OK)
        imrec_error_at(why, IMREC_ERR_DATA, d->begin,
                       "%.200s: bytes %llu to %llu are not in its index: records there "
                       "are not read; make a new index (imrec index), or read without it "
                       "(path_imgidx=none)",
                       uri, begin, end);
    else
        imrec_error_at(why, IMREC_ERR_DATA, d->begin,
                       "%.200s: bytes %llu to %llu hold no readable record: %.200s", uri, begin,
                       end, d->why.message);
    imrec_error_file(why, uri);
}

/* Once: each sweep has the same. */
static void warn_of_unlisted(struct imrec_iter *it, const struct damage *d)
{
    struct imrec_error why;
    const bool known = it->unlisted_told || it->container.index_doubt.status != IMREC_OK;
    it->unlisted_told = true;
    if (known || !it->options.verbose)
        return;
    describe_damage(it, d, &why);
    imrec_log(IMREC_LOG_WARNING, "%s", why.message);
}

static void note_damage(struct imrec_iter *it, const struct damage *d)
{
    struct imrec_error why;
    if (d->kind == DAMAGE_UNLISTED &&
        !it->container.index_found) { /* it was named: that is the wish */
        warn_of_unlisted(it, d);
        return;
    }
    describe_damage(it, d, &why);
    if (it->pending_damages < LOG_LISTED)
        it->pending_damage[it->pending_damages] = why;
    it->pending_damages++;
    it->pending_sweep = it->stream.sweep;
}

void iter_on_window(void *context, const struct window *w)
{
    struct imrec_iter *it = context;
    const struct schedule *s = &it->schedule;
    if (s->fill != FILL_SWEEP && it->stream.plan.global == NULL)
        return; /* these samples are another sweep's: they fill the rest of a batch */
    const bool told = it->resumed_inside;
    if (!told)
        it->window_before = s->main.sample;
    it->window_number = w->number;
    it->resumed_inside = false;
    for (uint64_t i = 0; !told && schedule_is_first_lap(s) && i < w->damage_count; i++)
        note_damage(it, &w->damages[i]);
}

/* Before sample `slot`, with c->sweep known. */
static void tell_damage(struct imrec_iter *it, struct cell_state *c, uint32_t slot)
{
    const uint64_t nth = it->pending_sweep > c->sweep ? it->pending_sweep - c->sweep : 0;
    if (it->pending_damages == 0)
        return;
    if (c->damages == 0) {
        c->damage = it->pending_damage[0];
        c->damage_slot = slot;
    }
    c->damages += it->pending_damages;
    mutex_lock(&c->lock);
    report_damage(&c->report, slot, nth, it->pending_damages, it->pending_damage);
    mutex_unlock(&c->lock);
    it->pending_damages = 0;
}

/* ---- steps of the schedule ----------------------------------------------------------------- */

/* The place of `run`, which follows the samples given so far. */
static struct place place_behind(const struct imrec_iter *it, const struct schedule_run *run)
{
    const bool begins = run->sample == 0;
    return (struct place){*run, begins ? 0 : it->place.window, begins ? 0 : it->place.before};
}

/* To the window that was entered last for a sample of the main run, or for a look ahead. */
static void go_back(struct imrec_iter *it)
{
    const struct schedule_run *run = &it->schedule.main;
    const bool inside = run->sample != 0;
    it->resumed_inside = inside; /* its damage is reported already */
    record_stream_seek(&it->stream, run->sweep, inside ? it->window_number : 0,
                       inside ? run->sample - it->window_before : 0);
}

/* The batch that is over; of a job's, what is this rank's. */
static struct schedule_close own_close(const struct imrec_iter *it)
{
    const struct global_order *g = it->stream.plan.global;
    return g != NULL ? job_closed(&it->schedule, &g->share) : it->schedule.closed;
}

static enum ordered_step close_cell(struct imrec_iter *it, struct cell_state *c)
{
    c->closed = own_close(it);
    c->next = place_behind(it, &c->closed.next);
    c->after = place_behind(it, &c->closed.after);
    if (c->closed.slots == 0)
        c->sweep = c->closed.next.sweep;
    if (c->closed.end)
        tell_damage(it, c, c->closed.slots);
    it->cell_open = it->closing = false;
    return ORDERED_CLOSE;
}

static enum ordered_step
give(struct imrec_iter *it, struct cell_state *c, struct ticket *t, enum schedule_step step)
{
    const struct schedule *s = &it->schedule;
    const bool main_run = s->fill == FILL_SWEEP && step != SCHEDULE_BLANK;
    t->kind = step;
    t->record = NULL;
    t->window = NULL;
    t->sweep = it->stream.sweep;
    t->lap = it->own_lap;
    if (step != SCHEDULE_BLANK) {
        t->record = record_stream_take(&it->stream);
        t->window = it->stream.window;
        loader_hold(it->stream.loader, t->window);
    }
    if (main_run && it->stream.plan.global == NULL) {
        it->place.window = it->window_number;
        it->place.before = it->window_before;
    }
    if (step == SCHEDULE_SAMPLE)
        tell_damage(it, c, t->slot);
    return ORDERED_TASK;
}

static enum ordered_step stop(struct imrec_iter *it, struct cell_state *c, enum imrec_status st,
                              const struct imrec_error *err)
{
    c->fatal = st;
    c->fatal_error = *err;
    it->cell_open = false;
    return ORDERED_STOP;
}

/* The own records are at their end, and what follows depends on those of other partitions. */
static enum imrec_status learn_equal(struct imrec_iter *it, struct imrec_error *err)
{
    struct schedule *s = &it->schedule;
    const uint64_t own = s->main.sample;
    IMREC_TRY(equal_count_get(&it->equal, &s->equal, err));
    if (own <= s->equal)
        return IMREC_OK;
    return imrec_fail(
        err, IMREC_ERR_CORRUPT,
        "%.300s: %llu records were read, but only %llu are there now: the shards have "
        "changed since they were opened, and partitions cannot be equal any more",
        it->container.shards[0].uri, (unsigned long long)own, (unsigned long long)s->equal);
}

/* Whether there is another record. Of a job's sweep that is arithmetic. */
static enum imrec_status look_ahead(struct imrec_iter *it, bool *more, struct imrec_error *err)
{
    const struct schedule *s = &it->schedule;
    const struct global_order *g = it->stream.plan.global;
    *more = false;
    if (!schedule_asks(s))
        return IMREC_OK;
    if (g == NULL) {
        IMREC_TRY(record_stream_more(&it->stream, more, err));
        return schedule_needs_equal(s, *more) ? learn_equal(it, err) : IMREC_OK;
    }
    *more = job_has_more(s, &g->share);
    return IMREC_OK;
}

/* Of a job's batch: whether the slot that the schedule has just filled is this rank's. Its record
 * is then the stream's next one. */
static enum imrec_status
find_own(struct imrec_iter *it, enum schedule_step next, bool *own, struct imrec_error *err)
{
    const struct global_order *g = it->stream.plan.global;
    struct job_sample at;
    bool more;
    *own = g == NULL || job_owns(&it->schedule, &g->share, &at);
    if (g == NULL || !*own || next == SCHEDULE_BLANK)
        return IMREC_OK;
    it->own_lap = global_order_lap(g, at.sweep, at.sample);
    record_stream_stand(&it->stream, at.sweep, at.sample, at.slot);
    return record_stream_more(&it->stream, &more, err);
}

/* Slots of a short batch of the job that other ranks have, and this one therefore too. */
static enum ordered_step fill_share(struct imrec_iter *it, struct cell_state *c, struct ticket *t)
{
    it->closing = t->slot < own_close(it).slots;
    return it->closing ? give(it, c, t, SCHEDULE_BLANK) : close_cell(it, c);
}

static void go_on(struct imrec_iter *it, enum schedule_step next)
{
    if (it->stream.plan.global != NULL)
        return; /* its place is found record by record */
    if (next == SCHEDULE_BACK) {
        go_back(it);
        return;
    }
    it->resumed_inside = false; /* what begins now begins with its first sample */
    record_stream_go(&it->stream, schedule_target(&it->schedule));
}

/* Batches begin with a slot of the main run, blank or not. */
static void begin_cell(const struct imrec_iter *it, struct cell_state *c)
{
    if (it->schedule.slots != 1)
        return;
    c->sweep = it->schedule.main.sweep;
    c->epoch = it->schedule.main.epoch;
}

static enum ordered_step step(struct imrec_iter *it, struct ticket *t)
{
    struct cell_state *c = &it->slots.cells[t->cell];
    if (!it->cell_open) {
        slots_begin_cell(&it->slots, t->cell);
        batch_fields_begin(&it->fields, t->cell);
    }
    it->cell_open = true;
    while (!it->closing) {
        bool more, own;
        struct imrec_error err;
        enum imrec_status st = look_ahead(it, &more, &err);
        if (st != IMREC_OK)
            return stop(it, c, st, &err);
        const uint64_t sweep = it->schedule.main.sweep;
        const enum schedule_step next = schedule_next(&it->schedule, more);
        if (it->schedule.main.sweep != sweep && t->slot != 0) /* damage after its last sample */
            tell_damage(it, c, t->slot);
        if (next == SCHEDULE_CLOSE)
            break;
        if (next == SCHEDULE_BACK || next == SCHEDULE_GO) {
            go_on(it, next);
            continue;
        }
        begin_cell(it, c);
        if ((st = find_own(it, next, &own, &err)) != IMREC_OK)
            return stop(it, c, st, &err);
        if (own)
            return give(it, c, t, next);
    }
    return fill_share(it, c, t);
}

enum ordered_step iter_feed(void *context, const struct ordered_task *task, uint32_t worker)
{
    struct imrec_iter *it = context;
    struct ticket *t = &it->workers[worker].ticket;
    const uint64_t begin = clock_ns(), waited = atomic_load(&it->stream.io_wait_ns);
    t->cell = task->place;
    t->slot = task->slot;
    const enum ordered_step made = step(it, t);
    atomic_fetch_add(&it->feed_ns,
                     clock_ns() - begin - (atomic_load(&it->stream.io_wait_ns) - waited));
    return made;
}

void iter_begin_at(struct imrec_iter *it, const struct place *place)
{
    const struct schedule_run *run = &place->run;
    const bool job = it->stream.plan.global != NULL;
    schedule_begin(&it->schedule, *run);
    if (!job)
        record_stream_seek(&it->stream, run->sweep, place->window, run->sample - place->before);
    it->cell_open = it->closing = false;
    it->pending_damages = 0;
    it->place = *place;
    it->window_before = place->before;
    it->resumed_inside =
        !job && run->sample != 0; /* the window's damage came with its first sample */
}
