/* tests/minibatch/test_minibatch_random.c - the randomized runs of the vectors: not the
 * original's generator, but its properties. */
#include "tests/support/minibatch_vectors.h"
#include "tests/support/suite.h"

static json_t *manifest;

static void
random_keys(struct keys *k, const json_t *e, json_int_t ranks, json_int_t rank, const char *mode)
{
    const json_t *p = json_object_get(e, "params"), *o = json_object_get(p, "options");
    const json_int_t chunks = number_of(o, "randomization_window_in_chunks", 0);
    k->n = 0;
    add_file(k, text_of(e, "file"));
    add_streams(k, json_object_get(p, "streams"));
    add_values(k, json_object_get(p, "deser"));
    add_values(k, json_object_get(p, "options"));
    add(k, "randomizationWindow=%" JSON_INTEGER_FORMAT,
        chunks > 0 ? chunks : number_of(o, "randomization_window_in_samples", 1));
    add(k, "sampleBasedRandomizationWindow=%d", chunks == 0);
    add(k, "minibatchSize=%" JSON_INTEGER_FORMAT, number_of(p, "mb", 1));
    add(k, "num_ranks=%" JSON_INTEGER_FORMAT, ranks);
    add(k, "rank=%" JSON_INTEGER_FORMAT, rank);
    add(k, "rank_mode=%s", mode);
}

enum { IDS = 40 }; /* of both random texts */

/* Each sweep has every id once; whole sequences; the rule by which minibatches are filled. */
static void check_random(const struct notes *n, const json_t *e, uint64_t most)
{
    const json_t *p = json_object_get(e, "params"), *o = json_object_get(p, "options");
    const uint64_t size = (uint64_t)number_of(p, "mb", 1);
    const uint64_t sweeps = (uint64_t)number_of(o, "max_sweeps", 0);
    uint64_t position = 0;
    for (uint64_t i = 0; i < n->minibatches; i++) {
        const struct noted *m = &n->minibatch[i];
        ck_assert(m->samples <= size || m->sequences == 1);
        position += m->samples;
        ck_assert_uint_eq(m->position, position);
        if (i + 1 < n->minibatches) /* the next sequence would not have fitted */
            ck_assert_uint_gt(m->samples + n->sequence[m->first + m->sequences].length, size);
    }
    for (uint64_t first = 0; first < n->sequences; first += IDS) {
        int times[IDS] = {0};
        for (uint64_t i = first; i < n->sequences && i < first + IDS; i++)
            ck_assert_int_eq(times[n->sequence[i].id]++, 0);
    }
    if (sweeps > 0) {
        ck_assert_uint_eq(n->sequences, sweeps * IDS);
    } else { /* the sequence that crosses the end belongs to it, and is the last */
        ck_assert_uint_ge(position, most);
        ck_assert_uint_lt(position - n->sequence[n->sequences - 1].length, most);
    }
}

/* Chunks that have begun and are not over, over all of a sweep, as the order uses them. */
static void check_window(const struct notes *n, uint64_t sequences_a_chunk, uint64_t window)
{
    for (uint64_t sweep = 0; (sweep + 1) * IDS <= n->sequences; sweep++) {
        uint64_t used[IDS] = {0}, open = 0;
        for (uint64_t i = 0; i < IDS; i++) {
            uint64_t *u = &used[n->sequence[sweep * IDS + i].id / sequences_a_chunk];
            open += *u == 0;
            ck_assert_uint_le(open, window);
            open -= ++*u == sequences_a_chunk;
        }
    }
}

START_TEST(randomized_runs_have_the_properties) /* loop: entries of "random" */
{
    static struct keys k;
    const json_t *e = json_array_get(json_object_get(manifest, "random"), (size_t)_i);
    const json_t *o = json_object_get(json_object_get(e, "params"), "options");
    const uint64_t most = (uint64_t)number_of(o, "max_samples", 0);
    const json_int_t seed = number_of(o, "randomization_seed", 0);
    struct imrec_minibatch_stats stats;
    random_keys(&k, e, 1, 0, "global");
    struct notes first = mb_all(k.key, 0, UINT64_MAX), again = mb_all(k.key, 0, UINT64_MAX),
                 other = mb_all(k.key, 17, UINT64_MAX);
    check_random(&first, e, most);
    expect_same(&first, &again, "the same seed");
    expect_same_order(&first, &other, "another size");
    if (first.sequences >= 2 * IDS) {
        uint64_t moved = 0;
        for (uint64_t i = 0; i < IDS; i++)
            moved += first.sequence[i].id != first.sequence[IDS + i].id;
        ck_assert_uint_gt(moved, IDS / 4);
        add(&k, "randomizationSeed=%" JSON_INTEGER_FORMAT, seed + 1);
        struct notes next = mb_all(k.key, 0, UINT64_MAX);
        for (uint64_t i = 0; i < IDS; i++) /* a seed begins where the one before is a sweep later */
            ck_assert(same_sequence(&first.sequence[IDS + i], &next.sequence[i]));
        notes_free(&next);
    }
    struct imrec_minibatch_source *s = mb_open(k.key);
    imrec_minibatch_get_stats(s, &stats);
    imrec_minibatch_source_close(s);
    ck_assert_uint_eq(stats.sequences, IDS);
    const json_int_t window = number_of(o, "randomization_window_in_chunks", 0);
    if (window > 0 && strstr(text_of(e, "file"), "r40c5") != NULL) {
        ck_assert_uint_eq(stats.chunks, 8);
        check_window(&first, 5, (uint64_t)window);
    }
    notes_free(&first);
    notes_free(&again);
    notes_free(&other);
}
END_TEST

START_TEST(ranks_cover_a_randomized_sweep_once_in_both_modes) /* loop: entries of "random" */
{
    static const char *const modes[] = {"global", "local"};
    static struct keys k;
    const json_t *e = json_array_get(json_object_get(manifest, "random"), (size_t)_i);
    const json_t *o = json_object_get(json_object_get(e, "params"), "options");
    const uint64_t sweeps = (uint64_t)number_of(o, "max_sweeps", 0);
    for (size_t mode = 0; mode < 2 && sweeps > 0; mode++)
        for (json_int_t ranks = 2; ranks <= 13; ranks += ranks < 4 ? 1 : 9) {
            uint64_t times[IDS] = {0};
            for (json_int_t rank = 0; rank < ranks; rank++) {
                random_keys(&k, e, ranks, rank, modes[mode]);
                struct notes n = mb_all(k.key, 0, UINT64_MAX);
                for (uint64_t i = 0; i < n.sequences; i++)
                    times[n.sequence[i].id]++;
                notes_free(&n);
            }
            for (size_t i = 0; i < IDS; i++)
                ck_assert_uint_eq(times[i], sweeps);
        }
}
END_TEST

static int entries(const char *group)
{
    return (int)json_array_size(json_object_get(manifest, group));
}

int main(void)
{
    Suite *s = suite_create("minibatch_random");
    TCase *tc = tcase_create("vectors");
    shared_or_skip();
    manifest = load_json("MANIFEST.json");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, randomized_runs_have_the_properties, 0, entries("random"));
    tcase_add_loop_test(tc, ranks_cover_a_randomized_sweep_once_in_both_modes, 0,
                        entries("random"));
    suite_add_tcase(s, tc);
    const int result = suite_run(s);
    json_decref(manifest);
    return result;
}
