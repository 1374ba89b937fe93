/* order=global: every number of ranks gets the batches of one rank, bit for bit, each its slots of
 * them; and a position of any rank, or of numbers, resumes any number of ranks. */
#include "base/clock.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, MOST_CALLS = 24, MOST_SLOTS = 60, MOST_RANKS = 12 };

static enum bad some_bad(uint32_t i)
{
    return i % 11 == 3 ? BAD_PIXELS : i % 13 == 5 ? BAD_FRAMING : GOOD;
}

/* What one rank was given by a call of next(). */
struct call {
    bool end, sweep_end, epoch_end;
    uint32_t slots, count;
    uint64_t sweep, number;
    struct seen seen[MOST_SLOTS];
    char before[640]; /* the position that was there */
};

struct job {
    uint32_t records, shards, batch;
    const char *order, *ends, *more;
    enum bad (*bad)(uint32_t i);
};

static const struct job jobs[] = {
    {45, 2, 12, "shuffle=1 seed=3", "last_batch=pad", "", some_bad},
    {45, 2, 24, "shuffle=1 seed=3", "last_batch=repeat",
     "mixup=0.4 cutmix=0.6 num_classes=64 mix_group=2 record_draws=1", NULL},
    {45, 2, 12, "shuffle=1 seed=3", "last_batch=wrap", "", some_bad},
    {45, 3, 12, "shuffle=1 seed=3", "last_batch=drop", "", NULL},
    {45, 2, 24, "shuffle=1 seed=3", "last_batch=partial", "", some_bad},
    {45, 2, 12, "shuffle=1 seed=3", "epoch_size=17 last_batch=repeat", "", some_bad},
    {45, 2, 24, "shuffle=1 seed=3", "epoch_size=31 last_batch=wrap max_samples=200", "num_views=2",
     NULL},
    {48, 2, 12, "", "last_batch=pad", "", some_bad},
    {45, 2, 12, "", "epoch_size=17 last_batch=partial", "", NULL},
    {45, 2, 12, "", "last_batch=repeat", "", some_bad},
    {45, 2, 12, "shuffle=1 locality=chunk shuffle_chunk=4096 shuffle_window=32768",
     "last_batch=pad", "", some_bad},
    {45, 2, 12, "shuffle=1 locality=chunk shuffle_chunk=4096 shuffle_window=65536",
     "last_batch=wrap", "", some_bad},
    {90, 2, 12, "shuffle=1 locality=chunk shuffle_chunk=4096 shuffle_window=65536",
     "epoch_size=25 last_batch=repeat", "mixup=0.4 num_classes=64 mix_group=1", NULL},
    {45, 2, 60, "shuffle=1 locality=chunk", "last_batch=partial", "", some_bad},
    {45, 2, 60, "shuffle=1", "last_batch=wrap", "", NULL}, /* a batch of more than a sweep */
    {7, 2, 60, "shuffle=1", "last_batch=repeat", "", NULL},
    {7, 9, 12, "shuffle=1", "last_batch=pad", "", NULL}, /* shards without a record */
    {1, 1, 12, "shuffle=1 locality=chunk", "last_batch=pad", "", NULL},
    {1, 1, 12, "", "last_batch=wrap epoch_size=5", "", NULL},
    {1, 1, 12, "shuffle=1", "last_batch=drop max_samples=3", "", NULL},
    {45, 2, 12, "shuffle=1 repeats=3", "last_batch=pad", "", some_bad},
    {45, 2, 12, "repeats=2", "last_batch=wrap", "", NULL},
    {45, 2, 12, "shuffle=1 sweep_samples=31", "last_batch=repeat", "", some_bad},
    {20, 2, 24, "shuffle=1 sweep_samples=70 class_balanced=1", "epoch_size=40", "num_views=2",
     NULL},
};
static const int worlds[] = {1, 2, 3, 4, 6, 12};
static struct call right[MOST_CALLS];

static struct image_set make_set(const struct job *j)
{
    return image_set_make(&(struct image_set_options){
        .records = j->records, .shards = j->shards, .labels = 1, .bad = j->bad});
}

static struct imrec_iter *
open_rank(const struct image_set *s, const struct job *j, int world, int rank, const char *run)
{
    char words[900];
    snprintf(words, sizeof(words),
             "order=global global_batch_size=%u batch_size=%u num_parts=%d part_index=%d "
             "rand_crop=1 rand_mirror=1 verbose=0 on_error=skip %s %s %s %s",
             j->batch, j->batch / (uint32_t)world, world, rank, j->order, j->ends, j->more, run);
    return set_open(s, true, words);
}

static const char *position_of(struct imrec_iter *it)
{
    const char *json;
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    return json;
}

static void read_one(struct imrec_iter *it, struct call *c)
{
    struct imrec_batch b;
    struct imrec_error err;
    struct stream s = {0};
    snprintf(c->before, sizeof(c->before), "%s", position_of(it));
    const enum imrec_status st = imrec_iter_next(it, &b, &err);
    if (st != IMREC_OK && st != IMREC_END)
        ck_abort_msg("%s", err.message);
    c->end = st == IMREC_END;
    c->slots = c->count = 0;
    if (c->end)
        return;
    c->slots = b.slots;
    c->count = b.count;
    c->sweep = b.sweep;
    c->number = b.epoch;
    c->sweep_end = b.sweep_end;
    c->epoch_end = b.epoch_end;
    stream_batch(&s, &b, SAMPLE_BYTES, true);
    ck_assert_uint_eq(s.n, b.slots);
    ck_assert_uint_le(s.n, MOST_SLOTS);
    memcpy(c->seen, s.seen, s.n * sizeof(*s.seen));
    stream_free(&s);
}

static bool same(const struct seen *a, const struct seen *b)
{
    return a->status == b->status && a->id == b->id && a->hash == b->hash && a->valid == b->valid;
}

/* What rank `rank` has of the job's call `all`. */
static void
check_share(const struct call *all, const struct call *own, uint32_t rank, uint32_t share)
{
    const uint32_t begin = rank * share, n = all->slots < share ? all->slots : share;
    const uint32_t samples = all->count > begin ? all->count - begin : 0;
    ck_assert_int_eq(all->end, own->end);
    ck_assert_str_eq(all->before, own->before);
    ck_assert_uint_eq(own->slots, n);
    if (all->end)
        return;
    ck_assert_uint_eq(own->count, samples < n ? samples : n);
    ck_assert_uint_eq(own->sweep, all->sweep);
    ck_assert_uint_eq(own->number, all->number);
    ck_assert(own->sweep_end == all->sweep_end && own->epoch_end == all->epoch_end);
    for (uint32_t i = 0; i < n; i++) {
        const struct seen *x = &own->seen[i];
        if (begin + i >= all->slots)
            ck_assert(!x->valid && x->status == IMREC_OK && x->id == 0);
        else if (!same(x, &all->seen[begin + i]))
            ck_abort_msg("rank %u, %u behind %s: id %d instead of %d", rank, i, all->before,
                         (int)x->id, (int)all->seen[begin + i].id);
    }
}

/* Ranks of a job that begins at call `from` of `right`. */
static void
run_job(const struct image_set *s, const struct job *j, int world, size_t from, const char *run)
{
    uint64_t fingerprint = 0;
    for (int rank = 0; rank < world; rank++) {
        static struct call own;
        struct imrec_error err;
        struct imrec_iter *it = open_rank(s, j, world, rank, run);
        if (from != 0 && imrec_iter_seek(it, right[from].before, &err) != IMREC_OK)
            ck_abort_msg("%s", err.message);
        const uint64_t number = imrec_iter_fingerprint(it);
        ck_assert(rank == 0 || number == fingerprint);
        fingerprint = number;
        for (size_t i = from; i < MOST_CALLS && i < from + 14; i++) {
            read_one(it, &own);
            check_share(&right[i], &own, (uint32_t)rank, j->batch / (uint32_t)world);
        }
        imrec_iter_close(it);
    }
}

static void run_one_rank(const struct image_set *s, const struct job *j)
{
    struct imrec_iter *it = open_rank(s, j, 1, 0, "preprocess_threads=1");
    for (size_t i = 0; i < MOST_CALLS; i++)
        read_one(it, &right[i]);
    imrec_iter_close(it);
}

CASE(.timeout = 240)

LOOP_TEST(every_number_of_ranks_gets_the_batches_of_one, 0, COUNT(jobs))
{
    const struct job *j = &jobs[_i];
    struct image_set s = make_set(j);
    run_one_rank(&s, j);
    for (int w = 1; w < COUNT(worlds); w++)
        if (strstr(j->more, "num_views") == NULL || worlds[w] < 12)
            run_job(&s, j, worlds[w], 0,
                    w % 2 ? "preprocess_threads=4" : "preprocess_threads=1 prefetch_buffer=1");
    image_set_free(&s);
}

LOOP_TEST(a_position_resumes_any_number_of_ranks, 0, COUNT(jobs))
{
    const struct job *j = &jobs[_i];
    struct image_set s = make_set(j);
    run_one_rank(&s, j);
    for (int w = 0; w < 4; w++)
        for (size_t from = 1 + (size_t)w; from < MOST_CALLS; from += 5)
            run_job(&s, j, worlds[w], from, "preprocess_threads=3");
    image_set_free(&s);
}

/* Of the ends that cut no sweep. */
LOOP_TEST(a_sweep_has_every_record_once, 0, COUNT(jobs))
{
    const struct job *j = &jobs[_i];
    uint8_t times[90] = {0};
    if (strstr(j->ends, "epoch") != NULL || strstr(j->ends, "wrap") != NULL ||
        strstr(j->ends, "drop") != NULL || strstr(j->order, "s=") != NULL || j->bad != NULL)
        return;
    struct image_set s = make_set(j);
    run_one_rank(&s, j);
    for (size_t i = 0; !right[i].end; i++)
        for (uint32_t k = 0; k < right[i].count; k++)
            times[set_record_of(right[i].seen[k].id)]++;
    for (uint32_t i = 0; i < j->records; i++)
        ck_assert_uint_eq(times[i], 1);
    image_set_free(&s);
}

TEST(a_position_of_numbers_is_that_of_the_ranks)
{
    const struct job *j = &jobs[0]; /* 4 batches a sweep, then an END */
    struct image_set s = make_set(j);
    const char *json;
    struct imrec_error err;
    uint64_t records;
    run_one_rank(&s, j);
    struct imrec_iter *it = open_rank(&s, j, 3, 2, "");
    ck_assert_int_eq(imrec_iter_samples(it, &records, NULL), IMREC_OK);
    ck_assert_uint_eq(records, 45);
    for (uint64_t i = 0; i < 15; i++) {
        const uint64_t sample = i % 5 == 4 ? 45 : i % 5 * 12;
        ck_assert_int_eq(imrec_iter_position_at(it, i / 5, sample, &json, NULL), IMREC_OK);
        ck_assert_str_eq(json, right[i].before);
    }
    ck_assert_int_eq(imrec_iter_position_at(it, 0, 46, &json, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_iter_position_at(it, INT64_MAX, 1, &json, &err), IMREC_ERR_ARGUMENT);
    imrec_iter_close(it);
    image_set_free(&s);
}

/* Sweeps differ, and a rank's share of them. */
TEST(every_sweep_shuffles_over_all_ranks)
{
    const struct job j = {90, 2, 12, "shuffle=1", "last_batch=drop", "", NULL};
    struct image_set s = make_set(&j);
    struct imrec_iter *it = open_rank(&s, &j, 2, 1, "");
    static struct call c;
    uint8_t seen[90] = {0};
    uint32_t all = 0;
    for (int i = 0; i < 24; i++) { /* three sweeps of 7 batches and an END */
        read_one(it, &c);
        for (uint32_t k = 0; k < c.slots; k++)
            seen[set_record_of(c.seen[k].id)] = 1;
    }
    for (uint32_t i = 0; i < 90; i++)
        all += seen[i];
    ck_assert_uint_gt(all, 65); /* 42 of them without; 7/8 are expected */
    imrec_iter_close(it);
    image_set_free(&s);
}

/* Sweeps that ranks read ahead when nobody takes anything: a window of the loader each, but for the
 * one in use. With locality=chunk it is a window of several. */
static const struct {
    const char *order;
    uint64_t ahead;
    bool whole;
} reading[] = {
    {"", 3, true},
    {"shuffle=1", 7, true},
    {"shuffle=1 locality=chunk shuffle_chunk=4096 shuffle_window=32768", 0, false},
};

static uint64_t bytes_of(const struct image_set *s, uint32_t shards)
{
    uint64_t bytes = 0;
    for (uint32_t shard = 0; shard < shards; shard++) {
        char name[32];
        snprintf(name, sizeof(name), "%02u.rec", shard);
        bytes += (uint64_t)tmp_size(tmp_path(&s->dir, name));
    }
    return bytes;
}

static uint64_t read_by(struct imrec_iter *const *it, int ranks)
{
    uint64_t sum = 0;
    for (int rank = 0; rank < ranks; rank++) {
        struct imrec_iter_stats stats;
        imrec_iter_get_stats(it[rank], &stats);
        sum += stats.bytes_read;
    }
    return sum;
}

/* All ranks together read each byte once a sweep. */
LOOP_TEST(all_ranks_together_read_each_byte_once, 0, COUNT(reading))
{
    const struct job j = {90, 3, 12, reading[_i].order, "last_batch=pad max_samples=810", "", NULL};
    enum { SWEEPS = 9 };
    struct image_set s = make_set(&j);
    const uint64_t bytes = bytes_of(&s, j.shards), want = (SWEEPS + reading[_i].ahead) * bytes;
    for (int w = 0; w < COUNT(worlds); w++) {
        struct imrec_iter *it[MOST_RANKS];
        static struct call c;
        for (int rank = 0; rank < worlds[w]; rank++) {
            it[rank] = open_rank(&s, &j, worlds[w], rank, "preprocess_threads=1");
            for (int i = 0; i < SWEEPS * 9; i++) /* 8 batches, and an END */
                read_one(it[rank], &c);
        }
        for (int ms = 0; ms < 10000 && read_by(it, worlds[w]) < want; ms++)
            clock_sleep_ms(1);
        clock_sleep_ms(5); /* for more than is allowed to come */
        const uint64_t sum = read_by(it, worlds[w]);
        ck_assert_uint_ge(sum, want);
        ck_assert_uint_le(sum, want + (reading[_i].whole ? 0 : bytes / 2));
        for (int rank = 0; rank < worlds[w]; rank++)
            imrec_iter_close(it[rank]);
    }
    image_set_free(&s);
}

static const struct {
    const char *words, *says;
    bool index;
} refused[] = {
    {"order=global num_parts=5 global_batch_size=12", "multiple of num_parts, but 12", true},
    {"order=global num_parts=4 global_batch_size=24", "batch_size must be global_batch_size", true},
    {"order=global num_parts=4", "imrec index", false},
    {"order=global on_error=replace", "on_error=replace", true},
    {"order=global num_parts=2 global_batch_size=4194304 batch_size=0", "batch_size", true},
    {"global_batch_size=12", "needs order=global", true},
    {"locality=chunk", "needs order=global", true},
    {"order=global num_parts=5 mixup=1 num_classes=90", "mix_group=0", true},
    {"order=global num_parts=5 mixup=1 num_classes=90 mix_group=2", "mix_group=2", true},
    {"mixup=1 num_classes=90 mix_group=3", "mix_group=3", true},
};

LOOP_TEST(what_does_not_fit_is_refused_by_name, 0, COUNT(refused))
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = 20, .shards = 1, .labels = 1});
    struct imrec_iter *it;
    struct imrec_error err = {0};
    ck_assert_int_ne(set_try_open(&s, refused[_i].index, refused[_i].words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
    image_set_free(&s);
}

static const struct {
    const char *words, *says;
} differs[] = {
    {"seed=4", "seed=3"},
    {"global_batch_size=24 batch_size=24", "global_batch_size=12"},
    {"shuffle=0", "shuffle=1"},
    {"locality=chunk", "shuffle_window=0"},
    {"order=local global_batch_size=0 batch_size=12", "order=global"},
    {"", NULL},
    {"last_batch=wrap", NULL},
};

LOOP_TEST(a_position_of_another_order_is_refused_by_name, 0, COUNT(differs))
{
    const struct job *j = &jobs[0];
    struct image_set s = make_set(j);
    struct imrec_error err = {0};
    run_one_rank(&s, j);
    struct imrec_iter *it = open_rank(&s, j, 1, 0, differs[_i].words);
    const enum imrec_status st = imrec_iter_seek(it, right[2].before, &err);
    if (differs[_i].says == NULL)
        ck_assert_int_eq(st, IMREC_OK);
    else
        ck_assert_msg(st == IMREC_ERR_ARGUMENT && strstr(err.message, differs[_i].says) != NULL,
                      "%s", err.message);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(a_fingerprint_differs_where_ranks_would)
{
    static const char *const words[] = {"",
                                        "seed=4",
                                        "seed_aug=4",
                                        "global_batch_size=24 batch_size=24",
                                        "shuffle=0",
                                        "last_batch=drop",
                                        "epoch_size=20",
                                        "max_samples=20",
                                        "locality=chunk",
                                        "num_parts=2 batch_size=6",
                                        "order=local global_batch_size=0"};
    const struct job *j = &jobs[0];
    struct image_set s = make_set(j);
    uint64_t of[COUNT(words)];
    for (int i = 0; i < COUNT(words); i++) {
        struct imrec_iter *it = open_rank(&s, j, 1, 0, words[i]);
        of[i] = imrec_iter_fingerprint(it);
        imrec_iter_close(it);
        for (int k = 0; k < i; k++)
            ck_assert_msg(of[i] != of[k], "%s, %s", words[i], words[k]);
    }
    image_set_free(&s);
}

TEST(no_memory_for_an_order_is_an_error)
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = 20, .shards = 1, .labels = 1});
    opening_must_fail_cleanly(
        &s, true, "order=global shuffle=1 locality=chunk shuffle_chunk=4096 shuffle_window=8192");
    image_set_free(&s);
}
