/* tests/minibatch/test_minibatch_stream.c - the timeline of a minibatch source: sizes, threads,
 * positions and ranks change nothing of what comes in which order. */
#include "tests/support/minibatch_sets.h"
#include "tests/support/suite.h"

#include <inttypes.h>

enum { SOME = 40 }; /* minibatches: over the end of a sweep or two */

static struct imrec_error err;

/* ---- sizes ------------------------------------------------------------------------------- */

START_TEST(single_samples_add_up) /* loop: orders; next(a), next(b) is next(a + b) */
{
    const char *const *keys = set_way(_i);
    struct imrec_minibatch_source *parts = mb_open(keys), *sums = mb_open(keys);
    struct notes p = {0}, q = {0};
    uint32_t state = 5;
    for (int i = 0; i < SOME; i++) {
        const uint32_t a = 1 + set_draw(&state, 30), b = 1 + set_draw(&state, 30);
        mb_follow(parts, a, 1, 4, &p);
        mb_follow(parts, b, 1, 4, &p);
        mb_follow(sums, a + b, 1, 4, &q);
        EXPECT(p.sequences == q.sequences);
        EXPECT(p.minibatch[p.minibatches - 1].position == q.minibatch[i].position);
        EXPECT(q.minibatch[i].samples == a + b);
    }
    expect_same_order(&p, &q, "sums");
    imrec_minibatch_source_close(parts);
    imrec_minibatch_source_close(sums);
    notes_free(&p);
    notes_free(&q);
}
END_TEST

START_TEST(sizes_do_not_change_the_order) /* loop: ways */
{
    const char *const *keys = set_way(_i);
    struct notes all = mb_all(keys, 50, SOME), varied = {0};
    struct imrec_minibatch_source *s = mb_open(keys);
    set_follow(s, 0, 2 * SOME, &varied, NULL);
    imrec_minibatch_source_close(s);
    if (!set_truncates(_i)) /* there slots are filled at once: pieces mix otherwise */
        expect_same_order(&all, &varied, "varied sizes");
    for (uint64_t i = 0; i < varied.minibatches && !set_truncates(_i); i++) {
        const struct noted *m = &varied.minibatch[i];
        EXPECT(m->samples <= set_size(i) || m->sequences == 1);
    }
    notes_free(&all);
    notes_free(&varied);
}
END_TEST

START_TEST(every_sweep_ends_once_and_has_everything_once) /* loop: ways */
{
    struct notes n = mb_all(mb_keys(set_way(_i), MB_KEYS("max_sweeps=3")), 13, UINT64_MAX);
    struct imrec_minibatch_source *s = mb_open(set_way(_i));
    struct imrec_minibatch_stats stats;
    uint64_t ends = 0, position = 0;
    imrec_minibatch_get_stats(s, &stats);
    imrec_minibatch_source_close(s);
    for (uint64_t i = 0; i < n.minibatches; i++) {
        ends += n.minibatch[i].sweep_end;
        position += n.minibatch[i].samples;
        EXPECT(n.minibatch[i].position == position);
    }
    EXPECT(ends == 3);
    EXPECT(n.minibatch[n.minibatches - 1].sweep_end);
    EXPECT(position == 3 * stats.samples);
    for (uint64_t i = 0; i < stats.sequences && !set_truncates(_i); i++) {
        uint64_t times = 0;
        for (uint64_t k = 0; k < n.sequences; k++)
            times +=
                n.sequence[k].hash == n.sequence[i].hash && n.sequence[k].id == n.sequence[i].id;
        EXPECT(times % 3 == 0); /* two files of the same numbers: 6 */
        EXPECT(times >= 3);
    }
    notes_free(&n);
}
END_TEST

/* ---- threads ----------------------------------------------------------------------------- */

START_TEST(threads_and_prefetch_change_no_byte) /* loop: ways */
{
    static const char *const with[][2] = {{"threads=1", "prefetch=1"},
                                          {"threads=2", "prefetch=4"},
                                          {"threads=5", "prefetch=2"},
                                          {"threads=5", "prefetch=3"}};
    struct notes want = mb_all(set_way(_i), 0, SOME / 2), varied = {0};
    struct imrec_minibatch_source *s = mb_open(set_way(_i));
    set_follow(s, 0, SOME / 2, &varied, NULL);
    imrec_minibatch_source_close(s);
    for (size_t t = 0; t < sizeof(with) / sizeof(with[0]); t++) {
        const char *const *keys = mb_keys(set_way(_i), MB_KEYS(with[t][0], with[t][1]));
        struct notes got = mb_all(keys, 0, SOME / 2), other = {0};
        expect_same(&want, &got, with[t][1]);
        s = mb_open(keys);
        set_follow(s, 0, SOME / 2, &other, NULL);
        imrec_minibatch_source_close(s);
        expect_same(&varied, &other, with[t][1]);
        notes_free(&got);
        notes_free(&other);
    }
    notes_free(&want);
    notes_free(&varied);
}
END_TEST

START_TEST(what_is_kept_in_memory_is_read_once) /* loop: ways */
{
    struct notes want = mb_all(mb_keys(set_way(_i), MB_KEYS("max_sweeps=4")), 30, UINT64_MAX),
                 got = {0};
    struct imrec_minibatch_source *s =
        mb_open(mb_keys(set_way(_i), MB_KEYS("max_sweeps=4", "keepDataInMemory=true")));
    struct imrec_minibatch_stats one, four;
    while (mb_follow(s, 30, 1, 4, &got) == IMREC_OK &&
           got.minibatch[got.minibatches - 1].sweep == 0)
        ;
    imrec_minibatch_get_stats(s, &one);
    mb_follow(s, 30, UINT64_MAX, 4, &got);
    imrec_minibatch_get_stats(s, &four);
    expect_same(&want, &got, "kept");
    EXPECT(one.bytes_read == four.bytes_read);
    imrec_minibatch_source_close(s);
    notes_free(&want);
    notes_free(&got);
}
END_TEST

/* ---- positions --------------------------------------------------------------------------- */

static void check_from(const char *const *keys, const struct notes *want,
                       const struct mb_positions *at, struct imrec_minibatch_source *used,
                       uint64_t number)
{
    struct notes there = {0}, fresh = {0};
    struct imrec_minibatch_source *s = mb_open(keys);
    const uint64_t left = want->minibatches - number, count = left < 9 ? left : 9;
    const char *json;
    EXPECT_SAYING(imrec_minibatch_seek(used, at->text[number], &err) == IMREC_OK, "%s",
                  err.message);
    EXPECT(imrec_minibatch_position(used, &json, NULL) == IMREC_OK);
    ck_assert_str_eq(json, at->text[number]);
    EXPECT_SAYING(imrec_minibatch_seek(s, at->text[number], &err) == IMREC_OK, "%s", err.message);
    set_follow(used, number, count, &there, NULL);
    set_follow(s, number, count, &fresh, NULL);
    EXPECT(fresh.minibatches == count);
    for (uint64_t i = 0; i < count; i++)
        EXPECT_SAYING(want->minibatch[number + i].hash == fresh.minibatch[i].hash &&
                          want->minibatch[number + i].position == fresh.minibatch[i].position &&
                          want->minibatch[number + i].epoch == fresh.minibatch[i].epoch &&
                          want->minibatch[number + i].sweep == fresh.minibatch[i].sweep &&
                          want->minibatch[number + i].sweep_end == fresh.minibatch[i].sweep_end &&
                          want->minibatch[number + i].epoch_end == fresh.minibatch[i].epoch_end,
                      "from %llu on, minibatch %llu is another", (unsigned long long)number,
                      (unsigned long long)i);
    expect_same(&fresh, &there, "a used source");
    imrec_minibatch_source_close(s);
    notes_free(&there);
    notes_free(&fresh);
}

START_TEST(any_position_goes_on_the_same) /* loop: ways; forwards, backwards, fresh, sizes change */
{
    const char *const *keys = mb_keys(set_way(_i), MB_KEYS("epoch_size=61"));
    struct mb_positions at = {0};
    struct notes want = {0};
    struct imrec_minibatch_source *s = mb_open(keys);
    uint32_t state = (uint32_t)_i;
    set_follow(s, 0, 2 * SOME, &want, &at);
    for (int i = 0; i < 12; i++)
        check_from(keys, &want, &at, s, set_draw(&state, 2 * SOME - 1));
    check_from(keys, &want, &at, s, 0);
    imrec_minibatch_source_close(s);
    mb_positions_free(&at);
    notes_free(&want);
}
END_TEST

START_TEST(a_source_that_ended_goes_back) /* loop: ways */
{
    const char *const *keys = mb_keys(set_way(_i), MB_KEYS("max_sweeps=1"));
    struct imrec_minibatch_source *s = mb_open(keys);
    struct imrec_minibatch m;
    struct notes want = {0}, again = {0};
    const char *json;
    EXPECT(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
    char *begin = strdup(json);
    EXPECT(mb_follow(s, 19, UINT64_MAX, 4, &want) == IMREC_END);
    EXPECT(imrec_minibatch_next(s, 5, NULL, 0, &m, &err) == IMREC_END);
    EXPECT(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
    char *end = strdup(json);
    EXPECT(imrec_minibatch_seek(s, begin, &err) == IMREC_OK);
    EXPECT(mb_follow(s, 19, UINT64_MAX, 4, &again) == IMREC_END);
    expect_same(&want, &again, "again");
    EXPECT(imrec_minibatch_seek(s, end, &err) == IMREC_OK);
    EXPECT(imrec_minibatch_next(s, 5, NULL, 0, &m, &err) == IMREC_END);
    imrec_minibatch_source_close(s);
    free(begin);
    free(end);
    notes_free(&want);
    notes_free(&again);
}
END_TEST

/* ---- seeds ------------------------------------------------------------------------------- */

START_TEST(a_seed_begins_where_the_one_before_is_a_sweep_later) /* loop: ways */
{
    const char *const *keys = set_way(_i);
    struct notes zero = mb_all(mb_keys(keys, MB_KEYS("randomizationSeed=8", "max_sweeps=3")), 7,
                               UINT64_MAX),
                 one = mb_all(mb_keys(keys, MB_KEYS("randomizationSeed=9", "max_sweeps=2")), 7,
                              UINT64_MAX);
    const uint64_t sweep = zero.sequences / 3;
    for (uint64_t i = 0; i < one.sequences && !set_truncates(_i); i++)
        EXPECT(same_sequence(&zero.sequence[sweep + i], &one.sequence[i]));
    uint64_t moved = 0;
    for (uint64_t i = 0; i < sweep; i++)
        moved += zero.sequence[i].id != zero.sequence[sweep + i].id;
    EXPECT(_i % SET_ORDERS == 0 || moved > sweep / 3 || set_truncates(_i));
    notes_free(&zero);
    notes_free(&one);
}
END_TEST

/* ---- ranks ------------------------------------------------------------------------------- */

/* Merges the shares of `ranks` from a position on (NULL: the beginning), against `want`. */
static void check_shares(const char *const *keys, unsigned ranks, const char *json,
                         const struct notes *want, uint64_t number, uint64_t count)
{
    struct notes share[16] = {{0}};
    for (unsigned r = 0; r < ranks; r++) {
        char num[32], rank[32];
        snprintf(num, sizeof(num), "num_ranks=%u", ranks);
        snprintf(rank, sizeof(rank), "rank=%u", r);
        struct imrec_minibatch_source *s = mb_open(mb_keys(keys, MB_KEYS(num, rank)));
        EXPECT(json == NULL || imrec_minibatch_seek(s, json, &err) == IMREC_OK);
        for (uint64_t i = 0; i < count; i++)
            EXPECT(mb_follow(s, 40 + 3 * ((number + i) % 5), 1, 4, &share[r]) == IMREC_OK);
        imrec_minibatch_source_close(s);
    }
    for (uint64_t i = 0; i < count; i++) {
        const struct noted *w = &want->minibatch[number + i];
        uint64_t samples = 0;
        for (unsigned r = 0; r < ranks; r++) {
            const struct noted *m = &share[r].minibatch[i];
            EXPECT(m->position == w->position);
            EXPECT(m->sweep_end == w->sweep_end && m->epoch_end == w->epoch_end &&
                   m->sweep == w->sweep && m->epoch == w->epoch);
            samples += m->samples;
        }
        EXPECT(samples == w->samples);
        for (uint64_t q = 0; q < w->sequences; q++) { /* dealt out in turn */
            const struct notes *n = &share[q % ranks];
            EXPECT(q / ranks < n->minibatch[i].sequences);
            EXPECT(same_sequence(&want->sequence[w->first + q],
                                 &n->sequence[n->minibatch[i].first + q / ranks]));
        }
    }
    for (unsigned r = 0; r < ranks; r++)
        notes_free(&share[r]);
}

START_TEST(global_shares_are_the_minibatch_of_one_rank) /* loop: ways without truncation */
{
    const char *const *keys = mb_keys(set_way(_i), MB_KEYS("epoch_size=100"));
    struct imrec_minibatch_source *s = mb_open(keys);
    struct notes want = {0};
    char *middle = NULL;
    for (uint64_t i = 0; i < SOME; i++) {
        const char *json;
        if (i == SOME / 2 && imrec_minibatch_position(s, &json, NULL) == IMREC_OK)
            middle = strdup(json);
        mb_follow(s, 40 + 3 * (i % 5), 1, 4, &want);
    }
    check_shares(keys, 2, NULL, &want, 0, SOME);
    check_shares(keys, 7, NULL, &want, 0, 10);
    check_shares(keys, 3, middle, &want, SOME / 2, 10); /* K changes at a restart */
    check_shares(keys, 1, middle, &want, SOME / 2, 10);
    imrec_minibatch_source_close(s);
    free(middle);
    notes_free(&want);
}
END_TEST

START_TEST(slots_are_dealt_out_to_ranks) /* loop: ways with truncation */
{
    const char *const *keys = set_way(_i);
    struct notes want = mb_all(keys, 24, SOME), share[3] = {{0}};
    uint64_t sequences = 0, hash[2] = {0};
    for (unsigned r = 0; r < 3; r++) {
        char rank[32];
        snprintf(rank, sizeof(rank), "rank=%u", r);
        share[r] = mb_all(mb_keys(keys, MB_KEYS("num_ranks=3", rank)), 24, SOME);
        sequences += share[r].sequences;
        for (uint64_t i = 0; i < SOME; i++)
            EXPECT(share[r].minibatch[i].position == want.minibatch[i].position &&
                   share[r].minibatch[i].sweep_end == want.minibatch[i].sweep_end);
        for (uint64_t i = 0; i < share[r].sequences; i++)
            hash[0] += share[r].sequence[i].hash;
        notes_free(&share[r]);
    }
    for (uint64_t i = 0; i < want.sequences; i++)
        hash[1] += want.sequence[i].hash;
    EXPECT(sequences == want.sequences);
    EXPECT(hash[0] == hash[1]);
    notes_free(&want);
}
END_TEST

START_TEST(local_ranks_share_a_sweep_without_rest) /* loop: ways without truncation */
{
    const char *const *keys = mb_keys(set_way(_i), MB_KEYS("max_sweeps=2", "rank_mode=local"));
    struct notes all = mb_all(keys, 11, UINT64_MAX);
    uint64_t sequences = 0, hash[2] = {0};
    for (unsigned r = 0; r < 3; r++) {
        char rank[32];
        snprintf(rank, sizeof(rank), "rank=%u", r);
        struct notes n = mb_all(mb_keys(keys, MB_KEYS("num_ranks=3", rank)), 11, UINT64_MAX);
        const uint64_t size = 11 / 3 + (11 % 3 > r);
        uint64_t ends = 0;
        for (uint64_t i = 0; i < n.minibatches; i++) {
            EXPECT(n.minibatch[i].samples <= size || n.minibatch[i].sequences == 1);
            ends += n.minibatch[i].sweep_end;
        }
        EXPECT(ends <= 2);
        sequences += n.sequences;
        for (uint64_t i = 0; i < n.sequences; i++)
            hash[0] += n.sequence[i].hash;
        notes_free(&n);
    }
    for (uint64_t i = 0; i < all.sequences; i++)
        hash[1] += all.sequence[i].hash;
    EXPECT(sequences == all.sequences);
    EXPECT(hash[0] == hash[1]);
    notes_free(&all);
}
END_TEST

START_TEST(local_ranks_fill_slots_of_their_own) /* loop: ways with truncation */
{
    const char *const *keys =
        mb_keys(set_way(_i), MB_KEYS("max_sweeps=2", "rank_mode=local", "num_ranks=3"));
    const uint32_t piece = strstr(keys[0], "reader") != NULL ? 3 : 4;
    struct imrec_minibatch_source *s = mb_open(set_way(_i));
    struct imrec_minibatch_stats stats;
    uint64_t samples = 0;
    imrec_minibatch_get_stats(s, &stats);
    imrec_minibatch_source_close(s);
    for (unsigned r = 0; r < 3; r++) {
        char rank[32];
        snprintf(rank, sizeof(rank), "rank=%u", r);
        struct notes n = mb_all(mb_keys(keys, MB_KEYS(rank)), 24, UINT64_MAX);
        const uint64_t slots = 24 / piece / 3 + (24 / piece % 3 > r);
        uint64_t ends = 0;
        for (uint64_t i = 0; i < n.minibatches; i++) {
            EXPECT(n.minibatch[i].samples <= slots * piece);
            samples += n.minibatch[i].samples;
            ends += n.minibatch[i].sweep_end;
        }
        EXPECT(ends == 2 && n.minibatch[n.minibatches - 1].sweep_end);
        notes_free(&n);
    }
    EXPECT(samples == 2 * stats.samples);
}
END_TEST

START_TEST(positions_of_local_ranks_go_on_the_same) /* loop: ways with truncation */
{
    const char *const *keys =
        mb_keys(set_way(_i), MB_KEYS("rank_mode=local", "num_ranks=3", "rank=1"));
    struct imrec_minibatch_source *s = mb_open(keys);
    struct notes want = {0};
    char *at[SOME];
    for (uint64_t i = 0; i < SOME; i++) {
        const char *json;
        EXPECT(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
        at[i] = strdup(json);
        EXPECT(mb_follow(s, 24 + 3 * (i % 5), 1, 4, &want) == IMREC_OK);
    }
    for (uint64_t i = 0; i < SOME; i += 3) {
        struct notes got = {0};
        EXPECT(imrec_minibatch_seek(s, at[i], NULL) == IMREC_OK);
        EXPECT(mb_follow(s, 24 + 3 * (i % 5), 1, 4, &got) == IMREC_OK);
        EXPECT(got.minibatch[0].hash == want.minibatch[i].hash &&
               got.minibatch[0].position == want.minibatch[i].position &&
               got.minibatch[0].sweep_end == want.minibatch[i].sweep_end);
        notes_free(&got);
    }
    for (uint64_t i = 0; i < SOME; i++)
        free(at[i]);
    imrec_minibatch_source_close(s);
    notes_free(&want);
}
END_TEST

/* CNTK's own state says a number of samples only. */
START_TEST(a_nominal_time_is_the_first_sequence_at_or_behind_it) /* loop: ways without truncation */
{
    const char *const *keys = mb_keys(set_way(_i), MB_KEYS("epoch_size=30"));
    struct imrec_minibatch_source *s = mb_open(keys);
    struct notes want = mb_all(keys, 1, SOME); /* a sequence each */
    for (uint64_t time = 0, i = 0; i < SOME; time += 2) {
        struct notes got = {0};
        char json[120];
        while (i < SOME && (i > 0 ? want.minibatch[i - 1].position : 0) < time)
            i++;
        if (i == SOME)
            break;
        snprintf(json, sizeof(json),
                 "{\"a\": {\"minibatchSourcePosition\": %" PRIu64 "}, \"b\": 1}", time);
        EXPECT(imrec_minibatch_seek(s, json, NULL) == IMREC_OK);
        EXPECT(mb_follow(s, 1, 1, 4, &got) == IMREC_OK);
        EXPECT(same_sequence(&got.sequence[0], &want.sequence[i]));
        EXPECT(got.minibatch[0].position == want.minibatch[i].position &&
               got.minibatch[0].epoch == want.minibatch[i].epoch &&
               got.minibatch[0].epoch_end == want.minibatch[i].epoch_end);
        notes_free(&got);
    }
    imrec_minibatch_source_close(s);
    notes_free(&want);
}
END_TEST

START_TEST(a_nominal_time_does_not_tell_epochs_of_another_stream)
{
    const char *const *keys = mb_keys(set_kinds[2], MB_KEYS("label_stream=B"));
    struct imrec_minibatch_source *s = mb_open(mb_keys(keys, MB_KEYS("epoch_size=30"))),
                                  *endless = mb_open(keys);
    static const char json[] = "{\"minibatchSourcePosition\": 9}";
    EXPECT(imrec_minibatch_seek(s, json, &err) == IMREC_ERR_UNSUPPORTED);
    EXPECT_SAYING(strstr(err.message, "label_stream 'B'") != NULL, "%s", err.message);
    struct notes n = {0};
    EXPECT(mb_follow(s, 1, 1, 4, &n) == IMREC_OK && n.minibatch[0].sweep == 0); /* where it was */
    EXPECT(imrec_minibatch_seek(endless, json, &err) == IMREC_OK);
    imrec_minibatch_source_close(s);
    imrec_minibatch_source_close(endless);
    notes_free(&n);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("minibatch_stream");
    TCase *tc = tcase_create("stream");
    const int whole = 7 * SET_ORDERS;
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, sets_make, sets_forget);
    tcase_add_loop_test(tc, single_samples_add_up, 0, SET_ORDERS);
    tcase_add_loop_test(tc, sizes_do_not_change_the_order, 0, SET_WAYS);
    tcase_add_loop_test(tc, every_sweep_ends_once_and_has_everything_once, 0, SET_WAYS);
    tcase_add_loop_test(tc, threads_and_prefetch_change_no_byte, 0, SET_WAYS);
    tcase_add_loop_test(tc, what_is_kept_in_memory_is_read_once, 0, SET_WAYS);
    tcase_add_loop_test(tc, any_position_goes_on_the_same, 0, SET_WAYS);
    tcase_add_loop_test(tc, a_source_that_ended_goes_back, 0, SET_WAYS);
    tcase_add_loop_test(tc, a_seed_begins_where_the_one_before_is_a_sweep_later, 0, SET_WAYS);
    tcase_add_loop_test(tc, global_shares_are_the_minibatch_of_one_rank, 0, whole);
    tcase_add_loop_test(tc, slots_are_dealt_out_to_ranks, whole, SET_WAYS);
    tcase_add_loop_test(tc, local_ranks_share_a_sweep_without_rest, 0, whole);
    tcase_add_loop_test(tc, local_ranks_fill_slots_of_their_own, whole, SET_WAYS);
    tcase_add_loop_test(tc, positions_of_local_ranks_go_on_the_same, whole, SET_WAYS);
    tcase_add_loop_test(tc, a_nominal_time_is_the_first_sequence_at_or_behind_it, 0, whole);
    tcase_add_test(tc, a_nominal_time_does_not_tell_epochs_of_another_stream);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
