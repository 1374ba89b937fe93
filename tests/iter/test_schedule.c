/* The schedule against an oracle that knows how many records there are and writes every batch
 * down from that. */
#include "iter/order/schedule.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SLOTS = 16, MAX_EVENTS = 80 };
enum kind { BLANK, SAMPLE, REPEATED };

struct slot {
    enum kind kind;
    uint64_t sweep, record;
};
struct event { /* a batch, or slots = 0: only an END */
    uint32_t slots, count;
    struct slot slot[MAX_SLOTS];
    bool sweep_end, epoch_end, end;
    struct schedule_run next, after;
};
struct run {
    struct event event[MAX_EVENTS];
    uint32_t n;
};

/* ---- the oracle -------------------------------------------------------------------------- */

static struct slot oracle_slot(uint64_t n, uint64_t sweep, uint64_t i, bool as_pad)
{
    if (n == 0)
        return (struct slot){.kind = BLANK};
    return (struct slot){as_pad || i >= n ? REPEATED : SAMPLE, sweep, i % n};
}

static void put(struct event *e, struct slot s)
{
    if (s.kind == BLANK)
        s = (struct slot){.kind = BLANK};
    e->count += s.kind == SAMPLE;
    e->slot[e->slots++] = s;
}

static void oracle_wrap(struct run *r, uint64_t n, uint64_t length, uint32_t batch)
{
    uint64_t sweep = 0, i = 0;
    for (; r->n < MAX_EVENTS; r->n++) {
        struct event *e = &r->event[r->n];
        while (e->slots < batch && length != 0) {
            put(e, oracle_slot(n, sweep, i, false));
            if (++i == length) {
                e->sweep_end = true;
                sweep++;
                i = 0;
            }
        }
        e->end = e->slots == 0;
    }
}

static void oracle_tail(struct event *e, enum imrec_last_batch last, uint64_t n, uint64_t length,
                        uint32_t batch, uint64_t sweep)
{
    if (last == IMREC_LAST_DROP)
        e->slots = e->count = 0;
    for (uint64_t k = 0; last == IMREC_LAST_PAD && e->slots < batch; k++)
        put(e, (struct slot){.kind = BLANK});
    for (uint64_t k = 0; last == IMREC_LAST_REPEAT && e->slots < batch; k++)
        put(e, oracle_slot(n, sweep + 1 + k / length, k % length, true));
}

static void
oracle(struct run *r, enum imrec_last_batch last, uint64_t n, uint64_t equal, uint32_t batch)
{
    const uint64_t length = equal != 0 ? equal : n;
    if (last == IMREC_LAST_WRAP) {
        oracle_wrap(r, n, length, batch);
        return;
    }
    for (uint64_t sweep = 0; r->n < MAX_EVENTS; sweep++) {
        uint64_t i = 0;
        bool over = false;
        while (!over && r->n < MAX_EVENTS) {
            struct event *e = &r->event[r->n++];
            while (i < length && e->slots < batch)
                put(e, oracle_slot(n, sweep, i++, false));
            over = i == length;
            e->end = e->sweep_end = over;
            if (over && e->slots != 0 && e->slots < batch)
                oracle_tail(e, last, n, length, batch, sweep);
        }
    }
}

/* ---- the schedule, over a stream of n records a sweep ------------------------------------- */

/* Where the stream stands when the schedule stands there: n is behind the last record. */
static uint64_t record_at(const struct schedule_run *at, uint64_t n, uint64_t equal)
{
    const uint64_t record = at->repeating || equal > n ? (n ? at->sample % n : 0) : at->sample;
    return record == 0 && at->given ? n : record;
}

static uint64_t g_counted; /* what SCHEDULE_UNCOUNTED turns out to be */

static void
drive_once(struct run *r, struct schedule *s, uint64_t n, uint64_t sweep, uint64_t record)
{
    for (uint32_t steps = 0; r->n < MAX_EVENTS; steps++) {
        struct event *e = &r->event[r->n];
        if (steps == 100 * MAX_EVENTS)
            ck_abort_msg("the schedule runs for ever");
        const bool asks = schedule_asks(s), more = asks && record < n;
        if (asks && schedule_needs_equal(s, more))
            s->equal = g_counted;
        const bool stays = more && schedule_stays(s);
        const enum schedule_step step = schedule_next(s, more);
        ck_assert(!stays || (step != SCHEDULE_GO && step != SCHEDULE_BACK));
        switch (step) {
        case SCHEDULE_SAMPLE:
        case SCHEDULE_REPEATED:
            if (schedule_is_first_lap(s) != (step == SCHEDULE_SAMPLE))
                ck_abort_msg("record %d of sweep %d: first lap or not", (int)record, (int)sweep);
            put(e, (struct slot){step == SCHEDULE_SAMPLE ? SAMPLE : REPEATED, sweep, record++});
            break;
        case SCHEDULE_BLANK:
            put(e, (struct slot){.kind = BLANK});
            break;
        case SCHEDULE_GO:
            sweep = schedule_target(s);
            record = 0;
            break;
        case SCHEDULE_BACK:
            sweep = s->main.sweep;
            record = record_at(&s->main, n, s->equal);
            break;
        case SCHEDULE_CLOSE:
            if (s->closed.slots != e->slots || s->closed.count != e->count)
                ck_abort_msg("%u slots, %u samples", s->closed.slots, s->closed.count);
            if (!s->closed.deliver)
                memset(e, 0, sizeof(*e));
            e->sweep_end = s->closed.sweep_end;
            e->epoch_end = s->closed.epoch_end;
            e->end = s->closed.end;
            e->next = s->closed.next;
            e->after = s->closed.after;
            r->n += s->closed.deliver || s->closed.end;
            break;
        }
    }
}

static bool same_slot(const struct slot *a, const struct slot *b)
{
    return a->kind == b->kind && a->sweep == b->sweep && a->record == b->record;
}

static bool same_event(const struct event *a, const struct event *b)
{
    bool same = a->slots == b->slots && a->count == b->count && a->end == b->end &&
                (a->slots == 0 || a->sweep_end == b->sweep_end);
    for (uint32_t k = 0; same && k < a->slots; k++)
        same = same_slot(&a->slot[k], &b->slot[k]);
    return same;
}

static void must_equal(const struct run *a, const struct run *b, const char *what)
{
    for (uint32_t i = 0; i < MAX_EVENTS; i++) /* an assertion costs a system call */
        if (!same_event(&a->event[i], &b->event[i]))
            ck_abort_msg("%s: batch %u: %u/%u slots, %u/%u samples, end %d/%d", what, i,
                         a->event[i].slots, b->event[i].slots, a->event[i].count, b->event[i].count,
                         a->event[i].end, b->event[i].end);
}

/* And once more, if `equal` is known only when it is needed. */
static void drive(struct run *r, struct schedule *s, uint64_t n, uint64_t sweep, uint64_t record)
{
    static struct run later;
    struct schedule uncounted = *s;
    memset(&later, 0, sizeof(later));
    drive_once(r, s, n, sweep, record);
    g_counted = uncounted.equal;
    if (g_counted == 0)
        return;
    uncounted.equal = SCHEDULE_UNCOUNTED;
    drive_once(&later, &uncounted, n, sweep, record);
    must_equal(&later, r, "counted late");
}

static struct run ours, right;

CASE(.timeout = 60)

LOOP_TEST(every_policy_and_size_equals_the_oracle, 0, 10) /* _i: last_batch x equal or not */
{
    const enum imrec_last_batch last = (enum imrec_last_batch)(_i / 2);
    char what[80];
    for (uint64_t n = 0; n <= 20; n++)
        for (uint64_t equal = _i % 2 ? n + (n == 0) : 0; equal <= (_i % 2 ? 3 * n + 5 : 0); equal++)
            for (uint32_t batch = 1; batch <= 9; batch++) {
                struct schedule s = {.last_batch = last, .batch_size = batch, .equal = equal};
                memset(&ours, 0, sizeof(ours));
                memset(&right, 0, sizeof(right));
                snprintf(what, sizeof(what), "last_batch %d, %d records, equal %d, batch %u", last,
                         (int)n, (int)equal, batch);
                schedule_begin(&s, (struct schedule_run){0});
                drive(&ours, &s, n, 0, 0);
                oracle(&right, last, n, equal, batch);
                must_equal(&ours, &right, what);
            }
}

/* All samples from event `from` on, in a row; the END marks too. */
static uint32_t flatten(const struct run *r, uint32_t from, struct slot *out, uint32_t room)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < r->n; i++) {
        for (uint32_t k = 0; k < r->event[i].slots && n < room; k++)
            if (r->event[i].slot[k].kind == SAMPLE)
                out[n++] = r->event[i].slot[k];
        if (r->event[i].end && n < room)
            out[n++] = (struct slot){.kind = BLANK};
    }
    return n;
}

/* Begins again behind every batch, with every other batch size. */
static void
resume_everywhere(enum imrec_last_batch last, uint64_t n, uint64_t equal, uint32_t batch)
{
    enum { COMPARED = 60 };
    struct slot a[COMPARED], b[COMPARED];
    struct schedule s = {.last_batch = last, .batch_size = batch, .equal = equal};
    memset(&right, 0, sizeof(right));
    schedule_begin(&s, (struct schedule_run){0});
    drive(&right, &s, n, 0, 0);
    for (uint32_t i = 0; i < 25; i++)
        for (uint32_t other = 1; other <= 7; other += last == IMREC_LAST_DROP ? 7 : 2) {
            const struct schedule_run at = right.event[i].next;
            s.batch_size = last == IMREC_LAST_DROP ? batch : other;
            memset(&ours, 0, sizeof(ours));
            schedule_begin(&s, at);
            drive(&ours, &s, n, at.sweep, record_at(&at, n, equal));
            const uint32_t na = flatten(&right, i + 1, a, COMPARED);
            /* an END that the batch itself brought comes first on both sides */
            const uint32_t skip = right.event[i].end ? 1 : 0;
            const uint32_t nb = flatten(&ours, 0, b, COMPARED);
            for (uint32_t k = 0; k + skip < nb && k < na; k++)
                if ((skip && b[0].kind != BLANK) || !same_slot(&a[k], &b[k + skip]))
                    ck_abort_msg("last_batch %d, %d records, equal %d: behind batch %u, sample %u",
                                 last, (int)n, (int)equal, i, k);
        }
}

LOOP_TEST(resuming_behind_any_batch_goes_on_there, 0, 5) /* _i: last_batch */
{
    for (uint64_t n = 0; n <= 9; n++)
        for (uint32_t batch = 1; batch <= 5; batch++) {
            resume_everywhere((enum imrec_last_batch)_i, n, 0, batch);
            resume_everywhere((enum imrec_last_batch)_i, n, n + 3, batch);
        }
}

/* ---- epochs --------------------------------------------------------------------------------- */

/* Sample t of all sweeps in a row. */
static struct slot timeline_slot(const struct schedule *s, uint64_t n, uint64_t t, bool as_pad)
{
    const uint64_t length = s->equal != 0 ? s->equal : n;
    return oracle_slot(n, t / length, t % length, as_pad);
}

static uint64_t epoch_end(const struct schedule *s, uint64_t n, uint64_t t)
{
    const uint64_t length = s->epoch_size != 0 ? s->epoch_size : s->equal != 0 ? s->equal : n;
    const uint64_t end = (t / length + 1) * length;
    return s->max_samples != 0 && end > s->max_samples ? s->max_samples : end;
}

/* Samples [t, ...) until the batch is full or has to end; returns how far it came. */
static uint64_t oracle_batch(struct event *e, const struct schedule *s, uint64_t n, uint64_t t)
{
    const uint64_t length = s->equal != 0 ? s->equal : n;
    while (e->slots < s->batch_size && !e->end) {
        put(e, timeline_slot(s, n, t, false));
        e->sweep_end |= (t + 1) % length == 0;
        const bool over = t + 1 == s->max_samples, ends = t + 1 == epoch_end(s, n, t);
        e->epoch_end |= ends;
        e->end = over || (ends && s->last_batch != IMREC_LAST_WRAP);
        t++;
    }
    return t;
}

static void oracle_rest(struct event *e, const struct schedule *s, uint64_t n, uint64_t t)
{
    const bool pads = s->last_batch == IMREC_LAST_PAD || s->last_batch == IMREC_LAST_WRAP;
    if (s->last_batch == IMREC_LAST_DROP && e->slots < s->batch_size)
        e->slots = e->count = 0;
    while (pads && e->slots < s->batch_size)
        put(e, (struct slot){.kind = BLANK});
    while (s->last_batch == IMREC_LAST_REPEAT && e->slots < s->batch_size)
        put(e, timeline_slot(s, n, t++, true));
}

static void oracle_epochs(struct run *r, const struct schedule *s, uint64_t n)
{
    const uint64_t length = s->equal != 0 ? s->equal : n;
    for (uint64_t t = 0; r->n < MAX_EVENTS; r->n++) {
        struct event *e = &r->event[r->n];
        if ((s->max_samples != 0 && t >= s->max_samples) || length == 0) {
            e->end = true;
            continue;
        }
        t = oracle_batch(e, s, n, t);
        if (e->end)
            oracle_rest(e, s, n, t);
    }
}

static void must_equal_oracle(const struct schedule *how, uint64_t n)
{
    struct schedule s = *how;
    char what[200];
    memset(&ours, 0, sizeof(ours));
    memset(&right, 0, sizeof(right));
    snprintf(what, sizeof(what), "last_batch %d, %d records, equal %d, batch %u, epoch %d, most %d",
             s.last_batch, (int)n, (int)s.equal, s.batch_size, (int)s.epoch_size,
             (int)s.max_samples);
    schedule_begin(&s, (struct schedule_run){0});
    drive(&ours, &s, n, 0, 0);
    oracle_epochs(&right, &s, n);
    must_equal(&ours, &right, what);
    for (uint32_t i = 0; n != 0 && i < MAX_EVENTS; i++)
        if (ours.event[i].slots != 0 && ours.event[i].epoch_end != right.event[i].epoch_end)
            ck_abort_msg("%s: batch %u: epoch_end", what, i);
}

LOOP_TEST(epochs_of_any_size_equal_the_oracle, 0, 10) /* _i: last_batch x equal or not */
{
    for (uint64_t n = 0; n <= 7; n++)
        for (uint32_t batch = 1; batch <= 6; batch++)
            for (uint64_t size = 1; size <= 2 * n + 5; size++)
                for (uint64_t most = 0; most <= 17; most += 1 + most % 3) {
                    const struct schedule how = {.last_batch = (enum imrec_last_batch)(_i / 2),
                                                 .batch_size = batch,
                                                 .equal = _i % 2 ? n + 1 + size % 3 : 0,
                                                 .epoch_size = size,
                                                 .max_samples = most};
                    must_equal_oracle(&how, n);
                }
}

LOOP_TEST(a_source_ends_after_its_samples_whatever_a_sweep_has, 0,
          10) /* _i: last_batch x equal or not */
{
    for (uint64_t n = 1; n <= 7; n++)
        for (uint32_t batch = 1; batch <= 6; batch++)
            for (uint64_t most = 1; most <= 3 * n; most++) {
                const struct schedule how = {.last_batch = (enum imrec_last_batch)(_i / 2),
                                             .batch_size = batch,
                                             .equal = _i % 2 ? n + 2 : 0,
                                             .max_samples = most};
                must_equal_oracle(&how, n);
            }
}

LOOP_TEST(a_full_data_sweep_is_one_and_the_last, 0, 5) /* _i: last_batch */
{
    for (uint64_t n = 0; n <= 7; n++)
        for (uint32_t batch = 1; batch <= 6; batch++) {
            struct schedule s = {
                .last_batch = (enum imrec_last_batch)_i, .batch_size = batch, .max_sweeps = 1};
            uint64_t samples = 0;
            memset(&ours, 0, sizeof(ours));
            schedule_begin(&s, (struct schedule_run){0});
            drive(&ours, &s, n, 0, 0);
            for (uint32_t i = 0; i < MAX_EVENTS; i++) {
                samples += ours.event[i].count;
                ck_assert(i <= n / batch || (ours.event[i].slots == 0 && ours.event[i].end));
            }
            ck_assert_uint_eq(samples, _i == IMREC_LAST_DROP ? n / batch * batch : n);
        }
}

LOOP_TEST(an_epoch_goes_on_behind_any_of_its_batches, 0, 5) /* _i: last_batch */
{
    for (uint64_t n = 1; n <= 6; n++)
        for (uint64_t size = 1; size <= 9; size++) {
            struct schedule s = {
                .last_batch = (enum imrec_last_batch)_i, .batch_size = 3, .epoch_size = size};
            memset(&right, 0, sizeof(right));
            schedule_begin(&s, (struct schedule_run){0});
            drive(&right, &s, n, 0, 0);
            for (uint32_t i = 0; i < 30; i++) {
                const struct schedule_run at = right.event[i].after;
                memset(&ours, 0, sizeof(ours));
                schedule_begin(&s, at);
                drive(&ours, &s, n, at.sweep, record_at(&at, n, 0));
                for (uint32_t k = i + 1; k < MAX_EVENTS; k++)
                    if (!same_event(&ours.event[k - i - 1], &right.event[k]))
                        ck_abort_msg("last_batch %d, %d records, epoch %d, from %u: batch %u", _i,
                                     (int)n, (int)size, i, k);
            }
        }
}
