/* tests/iter/simulated_job.c */
#include "tests/iter/simulated_job.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t simulated_schedule;

void simulation_fail(const char *format, ...)
{
    va_list args;
    printf("schedule %llu: ", (unsigned long long)simulated_schedule);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n  again: tests/simulate --one %llu\n", (unsigned long long)simulated_schedule);
    fflush(stdout);
    exit(1);
}

static struct position_order
position_order_of(const struct job *j, const struct global_order *g, uint64_t world, uint64_t rank)
{
    const bool chunks = j->order.chunk_bytes != 0;
    return (struct position_order){.data = 77,
                                   .seed = (int64_t)j->order.seed,
                                   .shuffle = j->order.shuffle,
                                   .shuffle_window = chunks ? (int64_t)j->order.shuffle_window : 0,
                                   .shuffle_chunk = chunks ? (int64_t)j->order.chunk_bytes : 0,
                                   .job = true,
                                   .chunks = chunks,
                                   .global_batch_size = (int64_t)j->batch,
                                   .records = g->share.records,
                                   .choice = j->sampling.print,
                                   .num_parts = (int64_t)world,
                                   .part_index = (int64_t)rank};
}

static void rank_begin(struct rank *r, const struct place *at)
{
    schedule_begin(&r->schedule, at->run);
    r->at = *at;
    r->end_due = false;
}

void rank_open(struct rank *r, const struct job *j, uint64_t world, uint64_t number)
{
    struct record_stream stream = {0};
    const uint64_t own = j->batch / world;
    r->job = j;
    r->order = (struct global_order){.sampling = j->sampling};
    r->order.share = (struct share){
        j->sampling.distinct != 0 ? j->sampling.distinct * j->sampling.repeats : j->set.unit_count,
        j->batch, number * own, own, j->last_batch == IMREC_LAST_WRAP || j->epoch_size != 0};
    if (record_stream_share(&stream, &j->order, &j->set, &r->order, NULL) != IMREC_OK)
        simulation_fail("no memory");
    r->order_of = position_order_of(j, &r->order, world, number);
    r->schedule = (struct schedule){.last_batch = j->last_batch,
                                    .batch_size = (uint32_t)j->batch,
                                    .epoch_size = j->epoch_size,
                                    .max_samples = j->max_samples};
    rank_begin(r, &(struct place){{0}, 0, 0});
}

void rank_close(struct rank *r)
{
    r->order.sampling = (struct sampling){0}; /* the job's */
    global_order_free(&r->order);
}

/* As the feed finds the record: by its number in the rank's own share of the sweep. */
static struct slot fill(struct rank *r, enum schedule_step step, const struct job_sample *at)
{
    const struct share *s = &r->order.share;
    const uint64_t shift = share_shift(s, at->sweep, at->sample, at->slot),
                   phase = share_phase(s, at->sweep, shift),
                   own = share_before(s, phase, at->sample), sample = share_sample(s, phase, own);
    uint64_t first, count;
    if (step == SCHEDULE_BLANK)
        return (struct slot){.kind = step};
    if (sample != at->sample)
        simulation_fail("sample %llu of its share is %llu, not %llu", (unsigned long long)own,
                        (unsigned long long)sample, (unsigned long long)at->sample);
    global_order_window(&r->order, global_order_window_of(&r->order, sample), &first, &count);
    if (sample < first || sample >= first + count)
        simulation_fail("sample %llu is not in its window", (unsigned long long)sample);
    const uint64_t record = global_order_record(&r->order, at->sweep, sample);
    const uint64_t bad = r->job->damaged;
    return (struct slot){at->sweep, sample,
                         record,    global_order_lap(&r->order, at->sweep, sample),
                         step,      bad != 0 && record % bad == bad / 2};
}

struct schedule_close rank_batch(struct rank *r, uint32_t *n)
{
    struct schedule *s = &r->schedule;
    for (*n = 0;;) {
        struct job_sample at;
        const bool more = schedule_asks(s) && job_has_more(s, &r->order.share);
        const enum schedule_step step = schedule_next(s, more);
        if (step == SCHEDULE_CLOSE)
            return job_closed(s, &r->order.share);
        if (step != SCHEDULE_GO && step != SCHEDULE_BACK && job_owns(s, &r->order.share, &at))
            r->slot[(*n)++] = fill(r, step, &at);
    }
}

static void write_position(struct rank *r)
{
    char *text;
    if (position_write(&r->order_of, &r->at, &text, NULL) != IMREC_OK ||
        strlen(text) >= sizeof(r->before))
        simulation_fail("a position that cannot be written");
    strcpy(r->before, text);
    imrec_free(text);
}

struct call rank_next(struct rank *r)
{
    struct call c = {.slot = r->slot, .before = r->before};
    write_position(r);
    for (;;) {
        uint32_t n;
        if (r->end_due) {
            r->end_due = false;
            r->at = r->after;
            c.end = true;
            return c;
        }
        const struct schedule_close closed = rank_batch(r, &n);
        for (; n < closed.slots; n++)
            r->slot[n] = (struct slot){.kind = SCHEDULE_BLANK};
        r->at = (struct place){.run = closed.next};
        r->after = (struct place){.run = closed.after};
        r->end_due = closed.end;
        if (!closed.deliver)
            continue;
        c.sweep_end = closed.sweep_end;
        c.epoch_end = closed.epoch_end;
        c.slots = closed.slots;
        c.count = closed.count;
        return c;
    }
}

void rank_seek(struct rank *r, const char *json)
{
    struct place at;
    bool own;
    struct imrec_error err;
    if (position_read(json, &r->order_of, 1, &at, &own, &err) != IMREC_OK)
        simulation_fail("%s", err.message);
    rank_begin(r, &at);
}
