/* tests/iter/simulate.c - jobs of many ranks that are killed and begun again, in one process.
 *
 *     simulate [--seed S] SCHEDULES     # so many, each of a seed of its own from S on
 *     simulate --one SEED               # that one again, and what happens in it
 *     simulate read|pack key=value ...  # how fast so many ranks are: predict.c
 *
 * A schedule is drawn from its seed: records, batch, order, choice of samples, ends, damaged
 * records, and lives of the job. In each life another number of ranks reads on from a checkpoint
 * of any rank, each at its own pace on a seeded clock, until the life is cut off. The code that
 * says what a rank gets is the product's (iter/order, iter/position); there are no bytes, threads
 * or files. What must hold:
 *
 *   - every call of every rank is its share of what one rank alone gets, which never stops;
 *   - so ranks never differ in how many batches and slots they have: none waits for ever;
 *   - positions of all ranks are the same text;
 *   - a sweep has every record as often as the order says. */
#include "base/math.h"
#include "tests/iter/predict.h"
#include "tests/iter/simulated_job.h"
#include "tests/support/listed_set.h"
#include "tests/support/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CALLS = 400, MOST_LIVES = 12 };

static bool told; /* --one: says what happens */

#define FAIL simulation_fail
#define TELL(...)                                                                                  \
    do {                                                                                           \
        if (told)                                                                                  \
            printf(__VA_ARGS__);                                                                   \
    } while (0)

/* ---- a job -------------------------------------------------------------------------------- */

/* A large number is as rare as a small one. */
static uint64_t any_size(struct dice *d, uint64_t most)
{
    uint64_t bits = 1;
    while ((uint64_t)1 << bits <= most)
        bits++;
    const uint64_t top = (uint64_t)1 << dice_below(d, bits);
    return min_u64(top + dice_below(d, top), most);
}

static void add_stratum(struct sampling *s, uint64_t first, uint64_t members, uint64_t samples)
{
    struct stratum *t = &s->strata[s->stratum_count++];
    *t = (struct stratum){first, members, t->begin};
    t[1].begin = s->distinct = t->begin + samples;
}

static void draw_sets(struct dice *d, struct sampling *s)
{
    const uint64_t sets = 1 + dice_below(d, min_u64(5, s->member_count));
    for (uint64_t i = 0; i < sets; i++) {
        const uint64_t first = share_begin(s->member_count, i, sets),
                       end = share_begin(s->member_count, i + 1, sets);
        add_stratum(s, first, end - first, 1 + any_size(d, 2 * (end - first)));
    }
}

static void draw_weights(struct dice *d, struct job *j, struct sampling *s)
{
    const uint64_t unit = ((uint64_t)1 << 62) / s->member_count / 100;
    for (uint64_t i = 0, end = 0; i < s->member_count; i++)
        j->line[i] = end += unit * (dice_below(d, 100) + (i == 0));
    s->line = j->line;
    s->distinct = any_size(d, 2 * s->member_count);
}

static void draw_choice(struct dice *d, struct job *j)
{
    struct sampling *s = &j->sampling;
    static const uint64_t copies[] = {1, 1, 2, 3, 4};
    *s = (struct sampling){.repeats = copies[dice_below(d, 5)],
                           .batch = j->batch,
                           .shuffle = j->order.shuffle,
                           .member_count = j->set.unit_count};
    j->choice = dice_below(d, 2) ? CHOICE_NONE : dice_below(d, CHOICES);
    if (j->order.chunk_bytes != 0 || j->batch % s->repeats != 0)
        s->repeats = 1;
    if (j->order.chunk_bytes != 0 || (!j->order.shuffle && j->choice > CHOICE_SUBSET))
        j->choice = CHOICE_NONE;
    if (j->choice == CHOICE_NONE && s->repeats == 1)
        return;
    memset(j->strata, 0, sizeof(j->strata));
    s->strata = j->strata;
    if (dice_below(d, 2)) {
        const uint64_t of = 2 + dice_below(d, 3);
        s->members = j->members;
        s->member_count = 0;
        for (uint64_t i = 0; i < j->set.unit_count; i++)
            if (dice_below(d, of) == 0 || (i + 1 == j->set.unit_count && s->member_count == 0))
                j->members[s->member_count++] = i;
    }
    if (j->choice == CHOICE_MIX)
        draw_sets(d, s);
    else if (j->choice == CHOICE_WEIGHTS)
        draw_weights(d, j, s);
    else
        add_stratum(s, 0, s->member_count,
                    dice_below(d, 2) ? s->member_count : any_size(d, 2 * s->member_count));
    s->print = dice_bits(d) | 1;
}

static void draw_job(struct dice *d, struct job *j, uint64_t batch)
{
    memset(j, 0, sizeof(*j));
    j->set = listed_set(any_size(d, MOST_RECORDS), 1 + any_size(d, 4096));
    j->batch = batch;
    j->last_batch = (enum imrec_last_batch)dice_below(d, 5);
    if (dice_below(d, 3) == 0)
        j->epoch_size = any_size(d, MOST_RECORDS);
    if (dice_below(d, 8) == 0)
        j->max_samples = any_size(d, 4 * MOST_RECORDS);
    j->damaged = dice_below(d, 2) ? 0 : 1 + any_size(d, 50);
    j->order = (struct record_stream_options){.shuffle = dice_below(d, 5) != 0,
                                              .indexed = true,
                                              .seed = dice_bits(d) >> 1,
                                              .shuffle_window = 8192 << dice_below(d, 10)};
    if (j->order.shuffle && dice_below(d, 3) == 0)
        j->order.chunk_bytes = 4096;
    draw_choice(d, j);
    TELL("%llu records, batches of %llu, last_batch %d, epoch_size %llu, max_samples %llu, "
         "shuffle %d, chunks %d, choice %d, repeats %llu, %llu samples a sweep\n",
         (unsigned long long)j->set.unit_count, (unsigned long long)batch, j->last_batch,
         (unsigned long long)j->epoch_size, (unsigned long long)j->max_samples, j->order.shuffle,
         j->order.chunk_bytes != 0, j->choice, (unsigned long long)j->sampling.repeats,
         (unsigned long long)(j->sampling.distinct * j->sampling.repeats));
}

/* ---- one rank, without a stop: what is right ----------------------------------------------- */

static struct call right[MOST_CALLS];
static struct slot right_slots[1 << 18];
static char right_before[MOST_CALLS][POSITION_TEXT];
static uint32_t calls;

static void run_alone(const struct job *j, struct rank *r, uint64_t most_slots)
{
    uint64_t used = 0;
    rank_open(r, j, 1, 0);
    for (calls = 0; calls < MOST_CALLS && used + j->batch <= most_slots; calls++) {
        struct call c = rank_next(r);
        memcpy(&right_slots[used], c.slot, c.slots * sizeof(*c.slot));
        c.slot = &right_slots[used];
        c.before = strcpy(right_before[calls], r->before);
        used += c.slots;
        right[calls] = c;
    }
    rank_close(r);
}

/* ---- what a sweep must have ---------------------------------------------------------------- */

static uint32_t times[MOST_RECORDS], samples_of[MOST_RECORDS * 16];

/* How often `record` has to come: low to high. */
static void
wanted(const struct job *j, uint64_t sweep, uint64_t record, uint64_t *low, uint64_t *high)
{
    const struct sampling *s = &j->sampling;
    uint64_t member = record;
    *low = *high = 1;
    if (s->distinct == 0)
        return;
    if (s->members != NULL) {
        member = first_at_least(s->members, sizeof(*s->members), 0, s->member_count, record);
        if (member == s->member_count || s->members[member] != record) {
            *low = *high = 0;
            return;
        }
    }
    if (s->line != NULL) {
        const double piece = (double)(s->line[member] - (member != 0 ? s->line[member - 1] : 0));
        const double want = piece * (double)s->distinct / (double)s->line[s->member_count - 1];
        *low = s->repeats * (uint64_t)(want > 1e-9 ? want - 1e-9 : 0);
        *high = s->repeats * (uint64_t)(want + 1 + 1e-9);
        return;
    }
    for (uint64_t i = 0; i < s->stratum_count; i++) {
        const struct stratum *t = &s->strata[i];
        const uint64_t n = t[1].begin - t->begin, before = sweep * n;
        if (member < t->first || member >= t->first + t->members)
            continue;
        if (n % t->members == 0 && before % t->members == 0) {
            *low = *high = s->repeats * (n / t->members);
            return;
        }
        *low = s->repeats * (n / t->members - (n / t->members != 0));
        *high = s->repeats * (n / t->members + 2);
        return;
    }
}

static void check_sweep(const struct job *j, uint64_t sweep, uint64_t samples)
{
    for (uint64_t i = 0; i < samples; i++)
        if (samples_of[i] != 1)
            FAIL("sample %llu of sweep %llu came %u times", (unsigned long long)i,
                 (unsigned long long)sweep, samples_of[i]);
    for (uint64_t r = 0; r < j->set.unit_count; r++) {
        uint64_t low, high;
        wanted(j, sweep, r, &low, &high);
        if (times[r] < low || times[r] > high)
            FAIL("record %llu came %u times in sweep %llu, not %llu to %llu", (unsigned long long)r,
                 times[r], (unsigned long long)sweep, (unsigned long long)low,
                 (unsigned long long)high);
    }
}

/* The sweeps that were delivered to their end, each sample of them once. With `drop` a sweep, or an
 * epoch, loses its last ones. */
static uint64_t check_sweeps(const struct job *j, uint64_t samples)
{
    uint64_t sweep = 0, n = 0, checked = 0;
    if (j->last_batch == IMREC_LAST_DROP || samples > sizeof(samples_of) / sizeof(samples_of[0]))
        return 0;
    memset(times, 0, sizeof(times));
    memset(samples_of, 0, sizeof(samples_of));
    for (uint32_t c = 0; c < calls; c++)
        for (uint32_t i = 0; i < right[c].slots; i++) {
            const struct slot *s = &right[c].slot[i];
            if (s->kind != SCHEDULE_SAMPLE)
                continue;
            if (s->sweep != sweep || s->sample >= samples)
                FAIL("sample %llu of sweep %llu in sweep %llu", (unsigned long long)s->sample,
                     (unsigned long long)s->sweep, (unsigned long long)sweep);
            times[s->record]++;
            samples_of[s->sample]++;
            if (++n < samples)
                continue;
            check_sweep(j, sweep++, samples);
            checked++;
            n = 0;
            memset(times, 0, sizeof(times));
            memset(samples_of, 0, sizeof(samples_of));
        }
    return checked;
}

/* ---- lives of a job ------------------------------------------------------------------------ */

struct pace { /* of a rank; clock in nanoseconds */
    uint64_t clock, made, mean;
};
struct life {
    uint64_t world, begin, ahead, save, end; /* begin: call; end: clock when it is killed */
};

static struct rank *ranks; /* of the life */
static struct pace paces[MOST_RANKS];

static void check_call(const struct life *l, uint64_t rank, uint64_t at, const struct call *own)
{
    const struct call *all = &right[at];
    const uint64_t share = ranks[0].order.share.count, begin = rank * share;
    const uint64_t slots = min_u64(all->slots, share);
    const uint64_t count = min_u64(all->count > begin ? all->count - begin : 0, slots);
    bool same = own->end == all->end && own->slots == slots && own->count == count &&
                own->sweep_end == all->sweep_end && own->epoch_end == all->epoch_end &&
                strcmp(own->before, all->before) == 0;
    for (uint64_t i = 0; same && i < slots; i++) {
        static const struct slot blank = {.kind = SCHEDULE_BLANK};
        const struct slot *want = begin + i < all->slots ? &all->slot[begin + i] : &blank,
                          *have = &own->slot[i];
        same = have->sweep == want->sweep && have->sample == want->sample &&
               have->record == want->record && have->lap == want->lap && have->kind == want->kind &&
               have->damaged == want->damaged;
    }
    if (!same)
        FAIL("call %llu of rank %llu of %llu is not its share of what one rank gets",
             (unsigned long long)at, (unsigned long long)rank, (unsigned long long)l->world);
}

/* The rank whose next call is ready first, of those that may be so far ahead of the trainer. */
static uint64_t first_ready(const struct life *l, uint64_t steps)
{
    uint64_t best = UINT64_MAX;
    for (uint64_t r = 0; r < l->world; r++)
        if (paces[r].made <= steps + l->ahead &&
            (best == UINT64_MAX || paces[r].clock < paces[best].clock))
            best = r;
    return best;
}

/* All ranks until the life is cut off or all calls are made. Returns the call that the checkpoint
 * which is left comes before, and its text. */
static uint64_t live(struct dice *d, const struct life *l, char checkpoint[POSITION_TEXT])
{
    uint64_t steps = 0, lacking = l->world, saved = 0, clock = 0;
    while (clock < l->end && l->begin + steps < calls) {
        const uint64_t r = first_ready(l, steps), at = l->begin + paces[r].made;
        struct pace *p = &paces[r];
        p->clock += p->mean / 2 + dice_below(d, p->mean + 1);
        p->made++;
        if (at < calls) {
            const struct call own = rank_next(&ranks[r]);
            check_call(l, r, at, &own);
        }
        lacking -= p->made == steps + 1;
        clock = max_u64(clock, p->clock);
        if (lacking != 0)
            continue;
        steps++; /* all gradients are there: a step of the trainer */
        for (uint64_t i = 0; i < l->world; i++) {
            lacking += paces[i].made <= steps;
            if (paces[i].made > steps + l->ahead) /* its buffer was full until now */
                paces[i].clock = max_u64(paces[i].clock, clock);
        }
        if (steps % l->save == 0)
            saved = steps;
    }
    const uint64_t next = l->begin + saved;
    if (next < calls)
        strcpy(checkpoint, right[next].before); /* what every rank has written there */
    return next;
}

static uint64_t any_world(struct dice *d, uint64_t batch)
{
    for (;;) {
        const uint64_t world = any_size(d, min_u64(batch, MOST_RANKS));
        if (batch % world == 0)
            return world;
    }
}

static void
begin_life(struct dice *d, const struct job *j, const struct life *l, const char *checkpoint)
{
    for (uint64_t r = 0; r < l->world; r++) {
        rank_open(&ranks[r], j, l->world, r);
        paces[r] = (struct pace){.mean = 1 + dice_below(d, 1000)};
        if (l->begin != 0)
            rank_seek(&ranks[r], checkpoint);
    }
}

static uint64_t run_lives(struct dice *d, const struct job *j)
{
    char checkpoint[POSITION_TEXT] = "";
    uint64_t begin = 0, lives = 0;
    for (; begin < calls && lives < MOST_LIVES; lives++) {
        const bool last = lives + 1 == MOST_LIVES;
        const struct life l = {.world = any_world(d, j->batch),
                               .begin = begin,
                               .ahead = 1 + dice_below(d, 4),
                               .save = 1 + dice_below(d, 5),
                               .end = last ? UINT64_MAX : any_size(d, 1000 * (uint64_t)calls)};
        begin_life(d, j, &l, checkpoint);
        begin = live(d, &l, checkpoint);
        for (uint64_t r = 0; r < l.world; r++)
            rank_close(&ranks[r]);
        TELL("%llu ranks from call %llu, checkpoint before call %llu of %u\n",
             (unsigned long long)l.world, (unsigned long long)l.begin, (unsigned long long)begin,
             calls);
    }
    return lives;
}

/* ---- schedules ----------------------------------------------------------------------------- */

struct totals {
    uint64_t lives, sweeps, calls, widest;
};

/* Numbers with many divisors, mostly small; rarely thousands of ranks. */
static uint64_t any_batch(struct dice *d)
{
    static const uint64_t few[] = {1, 2, 6, 12, 12, 24, 30, 48, 60}, many[] = {120, 256, 360, 720};
    const uint64_t kind = dice_below(d, 3000);
    if (kind == 0)
        return 4096 + 4096 * dice_below(d, 2);
    return kind < 100 ? many[dice_below(d, 4)] : few[dice_below(d, 9)];
}

static void run_schedule(uint64_t seed, struct totals *t)
{
    static struct job job;
    struct dice d = {seed * 0x9e3779b97f4a7c15u + 1};
    const uint64_t batch = any_batch(&d);
    simulated_schedule = seed;
    draw_job(&d, &job, batch);
    run_alone(&job, &ranks[0], max_u64(3 * batch, 1 + any_size(&d, 2000)));
    const uint64_t samples = job.sampling.distinct != 0
                                 ? job.sampling.distinct * job.sampling.repeats
                                 : job.set.unit_count;
    t->sweeps += check_sweeps(&job, samples);
    t->lives += run_lives(&d, &job);
    t->calls += calls;
    t->widest = max_u64(t->widest, batch < MOST_RANKS ? batch : MOST_RANKS);
    imrec_free(job.set.records);
}

/* Part `part` of `parts` of the schedules, in a process of its own. */
static int run_part(uint64_t seed, uint64_t schedules, uint64_t part, uint64_t parts)
{
    struct totals t = {0};
    ranks = calloc(MOST_RANKS, sizeof(*ranks));
    if (ranks == NULL)
        return 2;
    for (uint64_t i = part; i < schedules; i += parts)
        run_schedule(seed + i, &t);
    printf("%llu calls, %llu lives of jobs of up to %llu ranks, %llu whole sweeps: as they should "
           "be\n",
           (unsigned long long)t.calls, (unsigned long long)t.lives, (unsigned long long)t.widest,
           (unsigned long long)t.sweeps);
    free(ranks);
    return 0;
}

static int run_all(uint64_t seed, uint64_t schedules)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t parts = cpus > 1 ? (uint64_t)cpus : 1;
    int failed = 0, status;
    printf("schedules %llu to %llu\n", (unsigned long long)seed,
           (unsigned long long)(seed + schedules - 1));
    fflush(stdout);
    for (uint64_t part = 0; part < parts; part++) {
        const pid_t child = fork();
        if (child < 0)
            return 2;
        if (child == 0)
            exit(run_part(seed, schedules, part, parts));
    }
    while (wait(&status) > 0)
        failed |= status != 0;
    return failed;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, schedules = 0;
    if (argc > 1 && (strcmp(argv[1], "read") == 0 || strcmp(argv[1], "pack") == 0))
        return predict(argc - 1, argv + 1);
    for (int i = 1; i < argc; i++) {
        const bool value = i + 1 < argc;
        if (strcmp(argv[i], "--seed") == 0 && value)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--one") == 0 && value) {
            told = true;
            return run_part(strtoull(argv[++i], NULL, 10), 1, 0, 1);
        } else
            schedules = strtoull(argv[i], NULL, 10);
    }
    if (schedules == 0) {
        fprintf(stderr,
                "usage: simulate [--seed S] SCHEDULES | --one SEED | read|pack key=value ...\n");
        return 2;
    }
    return run_all(seed, schedules);
}
