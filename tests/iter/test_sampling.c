/* Which record a sample of a sweep is, as numbers alone: strata, weights, repeats. */
#include "base/math.h"
#include "iter/order/sampling.h"
#include "tests/support/suite.h"

#include <stdlib.h>

enum { SEED = 5, MOST = 1000 };

static uint32_t times[MOST];

/* Counts the records of a sweep; the laps of one differ. */
static void count_sweep(const struct sampling *s, uint64_t sweep)
{
    static uint8_t met[MOST][MOST * 4];
    memset(times, 0, sizeof(times));
    memset(met, 0, sizeof(met));
    for (uint64_t i = 0; i < s->distinct * s->repeats; i++) {
        const struct sampled x = sampling_at(s, SEED, sweep, i);
        ck_assert_uint_lt(x.record, MOST);
        ck_assert_uint_lt(x.lap, sizeof(met[0]));
        ck_assert_uint_eq(met[x.record][x.lap], 0);
        met[x.record][x.lap] = 1;
        times[x.record]++;
    }
}

/* Three strata: one larger than its samples of a sweep, one equally large, one that comes three
 * times and a bit. */
static struct stratum strata[] = {{0, 700, 0}, {700, 100, 40}, {800, 9, 140}, {0, 0, 170}};
static const struct sampling three = {.distinct = 170,
                                      .repeats = 1,
                                      .shuffle = true,
                                      .strata = strata,
                                      .stratum_count = 3,
                                      .member_count = 809};

TEST(a_sweep_has_as_many_of_each_stratum_as_it_should)
{
    for (uint64_t sweep = 0; sweep < 40; sweep++) {
        uint64_t of[3] = {0};
        count_sweep(&three, sweep);
        for (uint64_t r = 0; r < 809; r++)
            of[r < 700 ? 0 : r < 800 ? 1 : 2] += times[r];
        ck_assert(of[0] == 40 && of[1] == 100 && of[2] == 30);
        for (uint64_t r = 700; r < 800; r++)
            ck_assert_uint_eq(times[r], 1);
        for (uint64_t r = 800; r < 809; r++)
            ck_assert(times[r] >= 2 && times[r] <= 5);
    }
}

/* 700 members, 40 of them a sweep: 17 sweeps and a half go by before one is met again. */
TEST(a_stratum_goes_through_all_its_members_before_it_begins_again)
{
    uint32_t all[MOST] = {0};
    for (uint64_t sweep = 0; sweep < 35; sweep++) {
        count_sweep(&three, sweep);
        for (uint64_t r = 0; r < 700; r++)
            all[r] += times[r];
        for (uint64_t r = 0; sweep == 16 && r < 700; r++)
            ck_assert_uint_le(all[r], 1);
    }
    for (uint64_t r = 0; r < 700; r++)
        ck_assert_uint_eq(all[r], 2);
}

TEST(sweeps_and_seeds_have_other_orders)
{
    uint64_t sweeps = 0, seeds = 0, places = 0;
    for (uint64_t i = 0; i < 170; i++) {
        const uint64_t record = sampling_at(&three, SEED, 3, i).record;
        sweeps += sampling_at(&three, SEED, 4, i).record == record;
        seeds += sampling_at(&three, SEED + 1, 3, i).record == record;
        places += i < 40 && record < 700; /* 40 of 170 are of the first stratum */
    }
    ck_assert_uint_lt(sweeps, 20);
    ck_assert_uint_lt(seeds, 20);
    ck_assert(places > 2 && places < 20);
}

/* 100 members, 50 of them a sweep: the half that a lap begins with is another one in every lap, and
 * not that of the members in their order. */
TEST(every_lap_has_an_order_of_its_own)
{
    struct stratum one[] = {{0, 100, 0}, {0, 0, 50}};
    const struct sampling s = {.distinct = 50,
                               .repeats = 1,
                               .shuffle = true,
                               .strata = one,
                               .stratum_count = 1,
                               .member_count = 100};
    uint32_t before[100] = {0};
    for (uint64_t i = 0; i < 50; i++)
        before[i] = 1;
    for (uint64_t lap = 0; lap < 4; lap++) {
        uint32_t same = 0;
        count_sweep(&s, 2 * lap);
        for (uint64_t r = 0; r < 100; r++) {
            same += before[r] && times[r];
            before[r] = times[r];
        }
        ck_assert_msg(same > 10 && same < 40, "%d of 50", (int)same);
    }
}

TEST(members_in_file_order_without_shuffle)
{
    static uint64_t members[] = {3, 17, 18, 40};
    struct stratum one[] = {{0, 4, 0}, {0, 0, 6}};
    const struct sampling s = {.distinct = 6,
                               .repeats = 1,
                               .members = members,
                               .strata = one,
                               .stratum_count = 1,
                               .member_count = 4};
    const uint64_t want[] = {3, 17, 18, 40, 3, 17, 18, 40, 3, 17, 18, 40};
    for (uint64_t i = 0; i < 12; i++)
        ck_assert_uint_eq(sampling_at(&s, SEED, i / 6, i % 6).record, want[i]);
    ck_assert_uint_eq(sampling_at(&s, SEED, 0, 4).lap, 1);
    ck_assert_uint_eq(sampling_at(&s, SEED, 1, 2).lap, 1); /* record 3, whose lap has just begun */
}

/* Weights 0, 1, 2 ... 99, and one that is half of all. */
static uint64_t line[101];
static struct sampling weighted(uint64_t samples)
{
    const uint64_t unit = ((uint64_t)1 << 62) / 9900;
    for (uint64_t i = 0, end = 0; i < 101; i++)
        line[i] = end += unit * (i < 100 ? i : 4950);
    return (struct sampling){
        .distinct = samples, .repeats = 1, .shuffle = true, .line = line, .member_count = 101};
}

LOOP_TEST(a_weight_is_how_often_a_record_comes, 0, 3)
{
    static const uint64_t samples[] = {99, 990, 7654};
    const struct sampling s = weighted(samples[_i]);
    uint64_t all[101] = {0};
    for (uint64_t sweep = 0; sweep < 100; sweep++) {
        count_sweep(&s, sweep);
        for (uint64_t r = 0; r < 101; r++) {
            const double want = (double)samples[_i] * (double)(r < 100 ? r : 4950) / 9900;
            all[r] += times[r];
            ck_assert_msg(times[r] > want - 1 && times[r] < want + 1, "%d of %g", (int)times[r],
                          want);
        }
    }
    ck_assert_uint_eq(all[0], 0);
    for (uint64_t r = 1; r < 101; r++) { /* a point more or less, at random: 3 deviations */
        const double want = (double)samples[_i] * (double)(r < 100 ? r : 4950) / 99;
        ck_assert_msg((double)all[r] > want - 16 && (double)all[r] < want + 16, "%d: %d of %g",
                      (int)r, (int)all[r], want);
    }
}

/* Two pieces of 4 units, one of none before each: a point on the end of a piece is not of it. */
TEST(a_point_between_two_pieces_is_of_the_second)
{
    static uint64_t ends[] = {0, 4, 4, 8};
    const struct sampling s = {
        .distinct = 4, .repeats = 1, .shuffle = true, .line = ends, .member_count = 4};
    for (uint64_t sweep = 0; sweep < 20; sweep++) { /* half of them begin with point 0 */
        count_sweep(&s, sweep);
        ck_assert(times[0] == 0 && times[1] == 2 && times[2] == 0 && times[3] == 2);
    }
}

/* 8 bytes a record for a list, and for weights; 24 a stratum. */
TEST(memory_is_that_of_the_lists)
{
    static uint64_t list[10];
    const struct sampling subset = {
        .members = list, .member_count = 10, .strata = strata, .stratum_count = 2};
    const struct sampling weights = {.members = list, .line = list, .member_count = 10};
    const struct sampling mix = {.member_count = 10, .strata = strata, .stratum_count = 3};
    ck_assert_uint_eq(sampling_memory(&subset), 10 * 8 + 2 * 24);
    ck_assert_uint_eq(sampling_memory(&weights), 10 * 8 + 10 * 8);
    ck_assert_uint_eq(sampling_memory(&mix), 3 * 24);
}

/* Each sample three times in a batch of 24, in slots that are 8 apart: of 3 ranks one each. The
 * last batch is short. */
TEST(repeats_are_on_different_ranks)
{
    struct stratum one[] = {{0, 50, 0}, {0, 0, 50}};
    const struct sampling s = {.distinct = 50,
                               .repeats = 3,
                               .batch = 24,
                               .shuffle = true,
                               .strata = one,
                               .stratum_count = 1,
                               .member_count = 50};
    for (uint64_t sweep = 0; sweep < 3; sweep++) {
        count_sweep(&s, sweep);
        for (uint64_t r = 0; r < 50; r++)
            ck_assert_uint_eq(times[r], 3);
        for (uint64_t batch = 0; batch < 150; batch += 24) {
            const uint64_t apart = min_u64(24, 150 - batch) / 3;
            for (uint64_t i = 0; i < apart; i++)
                for (uint64_t copy = 0; copy < 3; copy++) {
                    const struct sampled a = sampling_at(&s, SEED, sweep, batch + i),
                                         b = sampling_at(&s, SEED, sweep, batch + i + copy * apart);
                    ck_assert(a.record == b.record && b.lap == copy);
                }
        }
    }
}
