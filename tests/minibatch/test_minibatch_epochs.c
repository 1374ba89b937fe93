/* tests/minibatch/test_minibatch_epochs.c - where epochs, sweeps and sources end, and how large
 * minibatches are. */
#include "tests/support/minibatch_sets.h"
#include "tests/support/suite.h"

static struct imrec_error err;

/* `sequences` of `length` samples each of A, and `labels` samples of L, as mem://even.ctf. */
static void make_even(unsigned sequences, unsigned length, unsigned labels)
{
    struct buf b = BUF_INIT(1 << 20);
    for (unsigned i = 0; i < sequences; i++)
        for (unsigned k = 0; k < length; k++) {
            set_print(&b, "%u |A %u %u", i, i, k);
            if (k < labels)
                set_print(&b, " |L 1");
            set_print(&b, "\n");
        }
    set_put("even.ctf", &b);
}

#define EVEN                                                                                       \
    "file=mem://even.ctf", "input.A.format=dense", "input.A.dim=2", "input.L.format=dense",        \
        "input.L.dim=1"

static void expect_samples(const struct notes *n, const uint64_t *want)
{
    for (uint64_t i = 0; want[i] != 0; i++) {
        EXPECT(i < n->minibatches);
        EXPECT_SAYING(n->minibatch[i].samples == want[i], "minibatch %llu has %llu samples",
                      (unsigned long long)i, (unsigned long long)n->minibatch[i].samples);
    }
}
#define SAMPLES(...) ((const uint64_t[]){__VA_ARGS__, 0})

START_TEST(a_minibatch_ends_with_its_epoch)
{
    make_even(1000, 1, 1);
    struct notes n = mb_all(MB_KEYS(EVEN, "epoch_size=447"), 128, 12); /* 128 * 3 + 63 */
    expect_samples(&n, SAMPLES(128, 128, 128, 63, 128, 128, 128, 63));
    for (uint64_t i = 0; i < n.minibatches; i++) {
        EXPECT(n.minibatch[i].epoch == i / 4);
        EXPECT(n.minibatch[i].epoch_end == (i % 4 == 3));
    }
    notes_free(&n);
}
END_TEST

START_TEST(a_sequence_that_crosses_the_end_belongs_to_the_epoch_it_begins_in)
{
    make_even(100, 3, 3);
    struct notes n = mb_all(MB_KEYS(EVEN, "epoch_size=100"), 90, 6);
    expect_samples(&n, SAMPLES(90, 12, 90, 9, 90, 9)); /* epochs of 34, 33 and 33 sequences */
    EXPECT(n.minibatch[1].epoch_end && n.minibatch[3].epoch_end && n.minibatch[5].epoch_end);
    EXPECT(n.minibatch[2].epoch == 1 && n.minibatch[5].epoch == 2);
    notes_free(&n);
}
END_TEST

START_TEST(sizes_follow_the_schedule) /* loop: spellings */
{
    static const char *const spelled[] = {"minibatchSize=20*2+50", "minibatchSize=20*2:50",
                                          "minibatchSize=[20]*2+[50]",
                                          "minibatch_size_in_samples=[(2,20),(1,50)]"};
    make_even(1000, 1, 1);
    struct notes n = mb_all(MB_KEYS(EVEN, "epoch_size=60", spelled[_i]), 0, 12);
    expect_samples(&n, SAMPLES(20, 20, 20, 20, 20, 20, 50, 10, 50, 10, 50, 10));
    notes_free(&n);
    n = mb_all(MB_KEYS(EVEN), 0, 4); /* the default */
    expect_samples(&n, SAMPLES(256, 256, 256, 256));
    notes_free(&n);
}
END_TEST

START_TEST(a_full_data_sweep_is_one_epoch_and_the_last) /* loop: ways */
{
    const char *const *keys = mb_keys(set_way(_i), MB_KEYS("epoch_size=FULL_DATA_SWEEP"));
    struct notes n = mb_all(keys, 12, UINT64_MAX),
                 one = mb_all(
                     mb_keys(set_way(_i), MB_KEYS("max_sweeps=1", "epoch_size=INFINITELY_REPEAT")),
                     12, UINT64_MAX);
    EXPECT(n.minibatches > 1 && n.minibatches == one.minibatches);
    for (uint64_t i = 0; i < n.minibatches; i++) {
        EXPECT(n.minibatch[i].hash == one.minibatch[i].hash);
        EXPECT(n.minibatch[i].epoch_end == (i + 1 == n.minibatches));
        EXPECT(!one.minibatch[i].epoch_end && n.minibatch[i].epoch == 0);
    }
    notes_free(&n);
    notes_free(&one);
}
END_TEST

START_TEST(sources_end_where_they_are_told)
{
    make_even(4, 1, 1);
    struct notes n = mb_all(MB_KEYS(EVEN, "max_sweeps=3"), 5, UINT64_MAX);
    EXPECT(n.minibatches == 3);
    expect_samples(&n, SAMPLES(5, 5, 2));
    EXPECT(n.minibatch[0].sweep_end && n.minibatch[1].sweep_end && n.minibatch[2].sweep_end);
    notes_free(&n);
    n = mb_all(MB_KEYS(EVEN, "max_samples=11"), 5, UINT64_MAX);
    EXPECT(n.minibatches == 3);
    expect_samples(&n, SAMPLES(5, 5, 1));
    EXPECT(n.minibatch[0].sweep_end && n.minibatch[1].sweep_end && !n.minibatch[2].sweep_end);
    notes_free(&n);
    make_even(5, 3, 3); /* the sequence that crosses the end comes whole */
    n = mb_all(MB_KEYS(EVEN, "max_samples=10"), 100, UINT64_MAX);
    EXPECT(n.minibatches == 1);
    expect_samples(&n, SAMPLES(12));
    notes_free(&n);
}
END_TEST

START_TEST(a_minibatch_may_hold_many_sweeps)
{
    make_even(1, 7, 7);
    struct notes n = mb_all(MB_KEYS(EVEN), 1000, 2);
    expect_samples(&n, SAMPLES(994, 994));
    EXPECT(n.minibatch[0].sequences == 142 && n.minibatch[1].sweep == 142);
    notes_free(&n);
}
END_TEST

START_TEST(the_defining_stream_counts) /* 4 and 4 features, a label each */
{
    struct imrec_minibatch m;
    make_even(20, 4, 1);
    struct imrec_minibatch_source *s =
        mb_open(MB_KEYS(EVEN, "input.L.definesMBSize=true", "epoch_size=5"));
    for (int i = 0; i < 9; i++) {
        EXPECT(imrec_minibatch_next(s, 2, NULL, 0, &m, &err) == IMREC_OK);
        EXPECT(m.samples == (i % 3 == 2 ? 1 : 2)); /* epochs count it too */
        EXPECT(m.stream[0].samples == 4 * m.samples && m.stream[1].samples == m.samples);
        EXPECT(m.epoch_end == (i % 3 == 2));
    }
    imrec_minibatch_source_close(s);
}
END_TEST

START_TEST(epochs_count_the_label_stream) /* loop: orders */
{
    const char *const *keys =
        mb_keys(mb_keys(set_kinds[2], set_orders[_i]), MB_KEYS("label_stream=B", "epoch_size=37"));
    struct imrec_minibatch_source *s = mb_open(keys);
    struct imrec_minibatch m;
    uint64_t labels = 0;
    for (int i = 0; i < 120; i++) {
        EXPECT(imrec_minibatch_next(s, 15, NULL, 0, &m, &err) == IMREC_OK);
        EXPECT(m.epoch == labels / 37); /* an epoch begins where it would have begun */
        labels += m.stream[1].samples;
        EXPECT(m.epoch_end == (labels / 37 > m.epoch));
    }
    EXPECT(labels > 37 * 5);
    imrec_minibatch_source_close(s);
    EXPECT(mb_try_open(mb_keys(set_kinds[2], MB_KEYS("label_stream=C")), &s, &err) ==
           IMREC_ERR_ARGUMENT);
    EXPECT_SAYING(strstr(err.message, "'C'") != NULL, "%s", err.message);
}
END_TEST

START_TEST(epochs_of_truncated_sequences_count_what_was_given) /* loop: truncation */
{
    struct notes n = mb_all(mb_keys(set_kinds[7 + _i], MB_KEYS("epoch_size=50")), 12, 60);
    uint64_t before = 0;
    for (uint64_t i = 0; i < n.minibatches; i++) {
        EXPECT(n.minibatch[i].epoch == before / 50);
        before += n.minibatch[i].samples;
        EXPECT(n.minibatch[i].position == before);
        EXPECT(n.minibatch[i].epoch_end == (before / 50 != n.minibatch[i].epoch));
    }
    notes_free(&n);
}
END_TEST

START_TEST(what_cannot_be_is_refused_by_name) /* loop */
{
    static const char *const wrong[][3] = {
        {"minibatchSize=0", NULL, "minibatch_size_in_samples"},
        {"minibatchSize=-3", NULL, "minibatch_size_in_samples"},
        {"epoch_size=0", NULL, "epoch_size"},
        {"rank=1", NULL, "rank"},
        {"rank_mode=both", NULL, "rank_mode"},
        {"truncationLength=2", "label_stream=A", "label_stream"},
        {"maxErrors=-1", NULL, "max_errors"},
        {"randomizationWindow=-2", NULL, "randomization_window"},
        {"precision=half", NULL, "precision"},
        {"truncated=true", NULL, "truncationLength"},
        {"minibatchsizes=3", NULL, "minibatchsizes"},
        {"input.A.dims=3", NULL, "dims"},
        {"memory_limit=1000", NULL, "memory_limit"},
    };
    struct imrec_minibatch_source *s;
    const char *const *keys =
        wrong[_i][1] ? MB_KEYS(wrong[_i][0], wrong[_i][1]) : MB_KEYS(wrong[_i][0]);
    const enum imrec_status st = mb_try_open(mb_keys(set_kinds[1], keys), &s, &err);
    EXPECT(st != IMREC_OK && s == NULL);
    EXPECT_SAYING(strstr(err.message, wrong[_i][2]) != NULL, "%s", err.message);
}
END_TEST

START_TEST(a_size_that_cannot_be_leaves_the_source_as_it_was)
{
    struct imrec_minibatch_source *s = mb_open(mb_keys(set_kinds[7], MB_KEYS("num_ranks=3")));
    struct imrec_minibatch m;
    struct notes n = {0};
    EXPECT(imrec_minibatch_next(s, (uint64_t)1 << 31, NULL, 0, &m, &err) == IMREC_ERR_ARGUMENT);
    EXPECT(imrec_minibatch_next(s, 8, NULL, 0, &m, &err) == IMREC_ERR_ARGUMENT); /* 2 slots */
    EXPECT_SAYING(strstr(err.message, "12 samples") != NULL, "%s", err.message);
    imrec_minibatch_source_close(s);
    notes_free(&n);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("minibatch_epochs");
    TCase *tc = tcase_create("epochs");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, sets_make, sets_forget);
    tcase_add_test(tc, a_minibatch_ends_with_its_epoch);
    tcase_add_test(tc, a_sequence_that_crosses_the_end_belongs_to_the_epoch_it_begins_in);
    tcase_add_loop_test(tc, sizes_follow_the_schedule, 0, 4);
    tcase_add_loop_test(tc, a_full_data_sweep_is_one_epoch_and_the_last, 0, SET_WAYS);
    tcase_add_test(tc, sources_end_where_they_are_told);
    tcase_add_test(tc, a_minibatch_may_hold_many_sweeps);
    tcase_add_test(tc, the_defining_stream_counts);
    tcase_add_loop_test(tc, epochs_count_the_label_stream, 0, SET_ORDERS);
    tcase_add_loop_test(tc, epochs_of_truncated_sequences_count_what_was_given, 0, 2);
    tcase_add_loop_test(tc, what_cannot_be_is_refused_by_name, 0, 13);
    tcase_add_test(tc, a_size_that_cannot_be_leaves_the_source_as_it_was);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
