#include "iter/plan/schedule.h"

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

static struct schedule_run start_of(uint64_t sweep)
{
    return (struct schedule_run){.sweep = sweep};
}

static enum schedule_step give(struct schedule *s, struct schedule_run *r, bool blank)
{
    const bool sample = r == &s->main && !r->repeating && !blank;
    r->sample++;
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

static enum schedule_step close_batch(struct schedule *s, bool end)
{
    const bool dropped = end && s->last_batch == IMREC_LAST_DROP && !is_full(s);
    s->closed = (struct schedule_close){
        .slots = s->slots,
        .count = s->count,
        .deliver = s->slots != 0 && !dropped,
        .sweep_end = s->sweep_ended || end,
        .end = end,
        .next = s->main,
    };
    if (end) {
        s->main = start_of(s->main.sweep + 1);
        s->go = true;
    }
    s->fill = FILL_SWEEP;
    s->sweep_ended = false;
    s->slots = s->count = 0;
    return SCHEDULE_CLOSE;
}

/* wrap: the batch runs on into the next sweep. A sweep that gave nothing would make it run
 * for ever: it ends the batch instead. */
static enum schedule_step wrap(struct schedule *s)
{
    if (s->main.sample == 0) {
        s->fill = FILL_BLANK;
        return s->slots == 0 ? close_batch(s, true) : give(s, &s->tail, true);
    }
    s->main = start_of(s->main.sweep + 1);
    s->sweep_ended = s->slots != 0;
    if (!is_full(s))
        return SCHEDULE_GO;
    s->go = true;
    return close_batch(s, false);
}

static enum schedule_step end_sweep(struct schedule *s)
{
    if (s->last_batch == IMREC_LAST_WRAP)
        return wrap(s);
    if (is_full(s) || s->slots == 0 || s->last_batch == IMREC_LAST_PARTIAL ||
        s->last_batch == IMREC_LAST_DROP)
        return close_batch(s, true);
    s->tail = start_of(s->main.sweep + 1);
    if (s->last_batch == IMREC_LAST_REPEAT) {
        s->fill = FILL_NEXT_SWEEPS;
        return SCHEDULE_GO;
    }
    s->fill = FILL_BLANK;
    return give(s, &s->tail, true);
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
            s->tail = start_of(s->tail.sweep + 1);
            return SCHEDULE_GO;
        }
        break; /* a sweep without records: so are all that come */
    case RUN_BLANK:
        break;
    }
    s->fill = FILL_BLANK;
    return give(s, &s->tail, true);
}

void schedule_begin(struct schedule *s, struct schedule_run at)
{
    s->main = at;
    s->fill = FILL_SWEEP;
    s->slots = s->count = 0;
    s->sweep_ended = s->go = false;
}

bool schedule_asks(const struct schedule *s)
{
    if (s->go || s->fill == FILL_BLANK || (s->fill == FILL_NEXT_SWEEPS && is_full(s)))
        return false;
    if (s->equal == 0 || s->fill == FILL_NEXT_SWEEPS)
        return true;
    if (s->main.sample == s->equal)
        return !s->main.repeating; /* what comes behind the last record: damage */
    return !is_full(s);
}

enum schedule_step schedule_next(struct schedule *s, bool more)
{
    if (s->go) {
        s->go = false;
        return SCHEDULE_GO;
    }
    if (s->fill != FILL_SWEEP) {
        if (is_full(s))
            return close_batch(s, true);
        return s->fill == FILL_BLANK ? give(s, &s->tail, true) : fill_from_next(s, more);
    }
    const enum run_state state = look(&s->main, s->equal, more);
    if (state == RUN_OVER)
        return end_sweep(s);
    if (is_full(s))
        return close_batch(s, false);
    return state == RUN_AGAIN ? again(&s->main) : give(s, &s->main, state == RUN_BLANK);
}

uint64_t schedule_target(const struct schedule *s)
{
    return s->fill == FILL_NEXT_SWEEPS ? s->tail.sweep : s->main.sweep;
}

bool schedule_is_first_lap(const struct schedule *s)
{
    return s->fill == FILL_SWEEP && !s->main.repeating;
}
