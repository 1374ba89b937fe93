/* iter/order/schedule.c - which slot gets what. */
#include "iter/order/schedule.h"

enum run_state { RUN_RECORD, RUN_BLANK, RUN_AGAIN, RUN_OVER };

static enum run_state look(const struct schedule_run *r, uint64_t equal, bool more)
{
    if (equal != 0 ? r->sample == equal : !more)
        return RUN_OVER;
    if (more)
        return RUN_RECORD;
    return r->given ? RUN_AGAIN : RUN_BLANK; /* no record at all: nothing to repeat */
}

static bool is_full(const struct schedule *s)
{
    return s->slots == s->batch_size;
}

/* The start of the sweep after it. */
static struct schedule_run next_sweep(const struct schedule *s, const struct schedule_run *r)
{
    const bool epochs = s->epoch_size != 0;
    return (struct schedule_run){.sweep = r->sweep + 1,
                                 .position = r->position,
                                 .epoch = epochs ? r->epoch : r->epoch + 1,
                                 .in_epoch = epochs ? r->in_epoch : 0};
}

static bool epoch_is_over(const struct schedule *s)
{
    return s->epoch_size != 0 && s->main.in_epoch >= s->epoch_size;
}

static bool source_is_over(const struct schedule *s)
{
    return (s->max_samples != 0 && s->main.position >= s->max_samples) ||
           (s->max_sweeps != 0 && s->main.sweep >= s->max_sweeps);
}

static enum schedule_step give(struct schedule *s, struct schedule_run *r, bool blank)
{
    const bool sample = r == &s->main && !r->repeating && !blank;
    r->sample++;
    r->position++;
    r->in_epoch++;
    r->given |= !blank;
    s->slots++;
    s->count += sample;
    return blank ? SCHEDULE_BLANK : sample ? SCHEDULE_SAMPLE : SCHEDULE_REPEATED;
}

static enum schedule_step again(struct schedule_run *r)
{
    r->repeating = true;
    r->given = false;
    return SCHEDULE_GO;
}

/* Where the stream continues after an END. */
static void pass_end(struct schedule *s)
{
    if (s->at_sweep_end) {
        s->main = next_sweep(s, &s->main);
        s->go = true;
        return;
    }
    s->main.epoch += s->main.in_epoch != 0; /* else it has ended before */
    s->main.in_epoch = 0;
    s->back = s->fill == FILL_NEXT_SWEEPS; /* what filled the batch comes again */
}

static enum schedule_step close_batch(struct schedule *s, bool end)
{
    const bool dropped = end && s->last_batch == IMREC_LAST_DROP && !is_full(s);
    s->closed = (struct schedule_close){
        .slots = s->slots,
        .count = s->count,
        .deliver = s->slots != 0 && !dropped,
        .sweep_end = s->sweep_ended || s->at_sweep_end,
        .epoch_end = s->epoch_ended || end,
        .end = end,
        .next = s->main,
    };
    if (end)
        pass_end(s);
    s->closed.after = s->main;
    s->fill = FILL_SWEEP;
    s->sweep_ended = s->epoch_ended = s->at_sweep_end = false;
    s->slots = s->count = 0;
    return SCHEDULE_CLOSE;
}

/* A sweep that gave nothing would make a batch run on for ever: it ends the batch instead. */
static enum schedule_step end_nothing(struct schedule *s)
{
    s->fill = FILL_BLANK;
    s->at_sweep_end = true;
    return s->slots == 0 ? close_batch(s, true) : give(s, &s->tail, true);
}

/* The batch runs on into the next sweep. */
static enum schedule_step run_on(struct schedule *s)
{
    s->main = next_sweep(s, &s->main);
    s->sweep_ended = s->slots != 0;
    s->epoch_ended |= s->epoch_size == 0 && s->slots != 0;
    if (!is_full(s))
        return SCHEDULE_GO;
    s->go = true;
    return close_batch(s, false);
}

/* The rest of the last batch, by policy; tail: what comes next. */
static enum schedule_step finish(struct schedule *s, struct schedule_run next)
{
    if (is_full(s) || s->slots == 0 || s->last_batch == IMREC_LAST_PARTIAL ||
        s->last_batch == IMREC_LAST_DROP)
        return close_batch(s, true);
    s->tail = next;
    if (s->last_batch == IMREC_LAST_REPEAT) {
        s->fill = FILL_NEXT_SWEEPS;
        return SCHEDULE_GO;
    }
    s->fill = FILL_BLANK;
    return give(s, &s->tail, true);
}

static enum schedule_step end_sweep(struct schedule *s)
{
    if (s->last_batch == IMREC_LAST_WRAP)
        return s->main.sample == 0 ? end_nothing(s) : run_on(s);
    s->at_sweep_end = true;
    return finish(s, next_sweep(s, &s->main));
}

/* repeat: the rest of a last batch, out of the sweeps that come. */
static enum schedule_step fill_from_next(struct schedule *s, bool more)
{
    switch (look(&s->tail, s->equal, more)) {
    case RUN_RECORD:
        return give(s, &s->tail, false);
    case RUN_AGAIN:
        return again(&s->tail);
    case RUN_OVER:
        if (s->tail.sample != 0) {
            s->tail = next_sweep(s, &s->tail);
            return SCHEDULE_GO;
        }
        break; /* a sweep without records: so are all that come */
    case RUN_BLANK:
        break;
    }
    s->fill = FILL_BLANK;
    return give(s, &s->tail, true);
}

/* An epoch, or the source, ends where no sweep has to. `more`: as for schedule_next(). */
static enum schedule_step end_epoch(struct schedule *s, bool more)
{
    const bool over = source_is_over(s);
    const bool go = s->go;
    if (s->last_batch == IMREC_LAST_WRAP && !over) {
        s->main.epoch++;
        s->main.in_epoch = 0;
        s->epoch_ended |= s->slots != 0;
        if (is_full(s))
            return close_batch(s, false);
    } else {
        const enum schedule_step step = finish(s, s->main);
        if (step != SCHEDULE_GO)
            return step;
    }
    s->go = false;
    return go ? SCHEDULE_GO : schedule_next(s, more);
}

void schedule_begin(struct schedule *s, struct schedule_run at)
{
    s->main = at;
    s->fill = FILL_SWEEP;
    s->slots = s->count = 0;
    s->sweep_ended = s->epoch_ended = s->at_sweep_end = s->go = s->back = false;
}

/* A place after the last sample that max_samples allows, before the END: this is that of a sweep,
 * too, if the sweep has no more. Only who begins there does not know. */
static bool may_end_a_sweep(const struct schedule *s)
{
    return s->main.in_epoch != 0 && s->epoch_size == 0 && s->last_batch != IMREC_LAST_WRAP;
}

bool schedule_asks(const struct schedule *s)
{
    if (s->go || s->back || s->fill == FILL_BLANK || (s->fill == FILL_NEXT_SWEEPS && is_full(s)))
        return false;
    const bool by_records = s->equal == 0 || s->equal == SCHEDULE_UNCOUNTED;
    if (s->fill == FILL_SWEEP && s->slots == 0 && source_is_over(s))
        return may_end_a_sweep(s) && by_records;
    if (by_records || s->fill == FILL_NEXT_SWEEPS)
        return true;
    if (s->main.sample == s->equal)
        return !s->main.repeating; /* what follows the last record: damage */
    return !is_full(s);
}

bool schedule_needs_equal(const struct schedule *s, bool more)
{
    return s->equal == SCHEDULE_UNCOUNTED && (!more || s->main.repeating);
}

static enum schedule_step next_of_main(struct schedule *s, bool more)
{
    const enum run_state state = look(&s->main, s->equal, more);
    const bool ends = epoch_is_over(s) || source_is_over(s);
    if (state == RUN_OVER) {
        if (s->epoch_size == 0 && !(ends && s->last_batch == IMREC_LAST_WRAP))
            return end_sweep(s);
        if (s->main.sample == 0)
            return end_nothing(s);
        if (!ends)
            return run_on(s);
        s->main = next_sweep(s, &s->main); /* both end here */
        s->sweep_ended = s->slots != 0;
        s->go = true;
    }
    if (ends)
        return end_epoch(s, more);
    if (is_full(s))
        return close_batch(s, false);
    return state == RUN_AGAIN ? again(&s->main) : give(s, &s->main, state == RUN_BLANK);
}

enum schedule_step schedule_next(struct schedule *s, bool more)
{
    if (s->fill == FILL_SWEEP && s->slots == 0 && source_is_over(s)) { /* nothing comes any more */
        s->at_sweep_end = may_end_a_sweep(s) && look(&s->main, s->equal, more) == RUN_OVER;
        return close_batch(s, true);
    }
    if (s->go || s->back) {
        const enum schedule_step step = s->back ? SCHEDULE_BACK : SCHEDULE_GO;
        s->go = s->back = false;
        return step;
    }
    if (s->fill != FILL_SWEEP) {
        if (is_full(s))
            return close_batch(s, true);
        return s->fill == FILL_BLANK ? give(s, &s->tail, true) : fill_from_next(s, more);
    }
    return next_of_main(s, more);
}

bool schedule_stays(const struct schedule *s)
{
    return s->fill == FILL_SWEEP && !s->go && !s->back && !epoch_is_over(s) && !source_is_over(s) &&
           look(&s->main, s->equal, true) == RUN_RECORD;
}

uint64_t schedule_target(const struct schedule *s)
{
    return s->fill == FILL_NEXT_SWEEPS ? s->tail.sweep : s->main.sweep;
}

bool schedule_is_first_lap(const struct schedule *s)
{
    return s->fill == FILL_SWEEP && !s->main.repeating;
}
