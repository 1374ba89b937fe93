/* iter/batch_report.c - reports failed samples and damage. */
#include "iter/batch_report.h"

#include "iter/state.h"

#include <stdio.h>
#include <string.h>

/* ---- a batch that is made -------------------------------------------------------------------- */

void report_begin(struct cell_report *r)
{
    r->noted = 0;
    memset(r->counts, 0, r->room * sizeof(*r->counts));
}

/* After those of its place: workers come in any order. */
static void note(struct cell_report *r, uint64_t place, uint64_t nth, const char *text)
{
    uint32_t i = r->noted;
    if (i == LOG_LISTED && r->notes[i - 1].place <= place)
        return;
    i -= i == LOG_LISTED; /* the last one makes room */
    r->noted = i + 1;
    for (; i > 0 && r->notes[i - 1].place > place; i--)
        r->notes[i] = r->notes[i - 1];
    r->notes[i].place = place;
    r->notes[i].nth = nth;
    (void)snprintf(r->notes[i].text, sizeof(r->notes[i].text), "%s", text);
}

static struct report_count *count_of(struct cell_report *r, uint64_t nth)
{
    return &r->counts[nth < r->room ? nth : r->room - 1];
}

void report_sample(struct cell_report *r, uint32_t sample, uint64_t nth, bool replaced,
                   const char *text)
{
    struct report_count *c = count_of(r, nth);
    c->replaced += replaced;
    c->zeroed += !replaced;
    note(r, 2 * (uint64_t)sample + 1, nth, text);
}

void report_damage(struct cell_report *r, uint32_t sample, uint64_t nth, uint64_t count,
                   const struct imrec_error *lines)
{
    count_of(r, nth)->damages += count;
    for (uint32_t i = 0; i < LOG_LISTED && i < count; i++)
        note(r, 2 * (uint64_t)sample, nth, lines[i].message);
}

/* ---- a sweep ------------------------------------------------------------------------------- */

static uint64_t faults(const struct report_count *c)
{
    return c->zeroed + c->replaced + c->damages;
}

/* "data/train-00000.rec and 7 more" */
static void name_set(const struct imrec_iter *it, char *out, size_t n)
{
    const struct container *s = &it->container;
    if (s->shard_count > 1)
        (void)snprintf(out, n, "%.200s and %u more", s->shards[0].uri, s->shard_count - 1);
    else
        (void)snprintf(out, n, "%.200s", s->shards[0].uri);
}

static void finish(struct imrec_iter *it, bool over)
{
    struct sweep_report *r = &it->report;
    const struct report_count *c = &r->count;
    const uint64_t samples = c->zeroed + c->replaced;
    char set[256], failed[128] = "", damaged[64] = "";
    if (it->options.verbose && faults(c) != 0) {
        name_set(it, set, sizeof(set));
        if (samples != 0)
            (void)snprintf(failed, sizeof(failed),
                           " samples that failed: %llu (replaced: %llu, zeroed: %llu);",
                           (unsigned long long)samples, (unsigned long long)c->replaced,
                           (unsigned long long)c->zeroed);
        if (c->damages != 0)
            (void)snprintf(damaged, sizeof(damaged), " damaged ranges: %llu;",
                           (unsigned long long)c->damages);
        imrec_log(IMREC_LOG_WARNING, "%s: sweep %llu%s:%s%s not listed above: %llu", set,
                  (unsigned long long)r->sweep, over ? "" : " so far", failed, damaged,
                  (unsigned long long)(faults(c) - r->listed));
    }
    *r = (struct sweep_report){.begun = false};
}

static void enter(struct imrec_iter *it, uint64_t sweep)
{
    struct sweep_report *r = &it->report;
    if (r->begun && r->sweep == sweep)
        return;
    if (r->begun)
        finish(it, true);
    r->begun = true;
    r->sweep = sweep;
}

/* Of a batch that is dropped only the damage counts. */
static void take(struct imrec_iter *it, const struct cell_state *c, uint64_t sweep)
{
    struct sweep_report *r = &it->report;
    const uint64_t nth = sweep - c->sweep;
    struct report_count more = {0};
    uint64_t listed = 0;
    if (nth < c->report.room)
        more = c->report.counts[nth];
    if (!c->closed.deliver)
        more.zeroed = more.replaced = 0;
    for (uint32_t i = 0; i < c->report.noted && !r->cut; i++) {
        const struct report_note *n = &c->report.notes[i];
        if (n->nth != nth || (n->place % 2 != 0 && !c->closed.deliver))
            continue;
        r->cut = r->listed == LOG_LISTED;
        if (r->cut)
            break;
        if (it->options.verbose)
            imrec_log(IMREC_LOG_WARNING, "%s", n->text);
        r->listed++;
        listed++;
    }
    r->cut = r->cut || listed < faults(&more);
    r->count.zeroed += more.zeroed;
    r->count.replaced += more.replaced;
    r->count.damages += more.damages;
    atomic_fetch_add(&it->damages, more.damages); /* not by the feed, which runs ahead */
}

void report_batch(struct imrec_iter *it, const struct cell_state *c)
{
    const uint64_t last = c->after.run.sweep;
    for (uint64_t sweep = c->sweep; sweep <= last; sweep++) {
        enter(it, sweep);
        take(it, c, sweep);
        if (sweep < last)
            finish(it, true);
    }
}

void report_nothing(struct imrec_iter *it, const struct cell_state *c)
{
    const struct schedule_close *closed = &c->closed;
    const struct imrec_iter_options *o = &it->options;
    const uint64_t all = it->container.record_total; /* 0: not known */
    char set[256], has[96] = "no record";
    if (it->nothing_told || it->batches != 0 || !closed->end || closed->deliver ||
        closed->next.sample != closed->count) /* the sweep began before a position */
        return;
    it->nothing_told = true;
    name_set(it, set, sizeof(set));
    if (closed->count != 0)
        (void)snprintf(has, sizeof(has),
                       "%u samples, fewer than batch_size=%lld, and last_batch=drop", closed->count,
                       (long long)o->batch_size);
    else if (all != 0)
        (void)snprintf(has, sizeof(has), "none of the %llu records", (unsigned long long)all);
    imrec_log(IMREC_LOG_WARNING,
              "%s: part_index=%lld of num_parts=%lld has %s: a sweep has no batch", set,
              (long long)o->part_index, (long long)o->num_parts, has);
}

void report_leave(struct imrec_iter *it)
{
    if (it->report.begun)
        finish(it, false);
}
