/* The stream of samples: nothing changes it but data, seed, order and partition. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 150 };

static const char *const draws = " rand_crop=1 rand_mirror=1";

static const struct set_order orders[] = {
    {"", false},
    {"", true},
    {"shuffle=1 seed=3 shuffle_window=32768 shuffle_chunk=4096", false}, /* a dozen windows */
    {"shuffle=1 seed=3", false},                                         /* one */
    {"shuffle=1 seed=3", true},
};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

static struct image_set make(uint32_t shards)
{
    return image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = shards, .labels = 2});
}

static struct stream
read_sweeps(const struct image_set *s, int order, const char *more, uint32_t sweeps)
{
    char words[512];
    struct stream out = {0};
    snprintf(words, sizeof(words), "%s%s %s", orders[order].words, draws, more);
    struct imrec_iter *it = set_open(s, orders[order].index, words);
    stream_read(&out, it, SAMPLE_BYTES, sweeps, SIZE_MAX);
    imrec_iter_close(it);
    return out;
}

CASE(.timeout = 120)

LOOP_TEST(batch_size_threads_and_prefetch_change_nothing, 0, ORDERS) /* _i: order */
{
    static const char *const ways[] = {
        "batch_size=1 preprocess_threads=7 prefetch_buffer=1",
        "batch_size=4 preprocess_threads=1 prefetch_buffer=5",
        "batch_size=7 preprocess_threads=2",
        "batch_size=50 preprocess_threads=7 prefetch_buffer=1",
        "batch_size=150 preprocess_threads=2 last_batch=partial",
        "batch_size=1000 preprocess_threads=7 last_batch=repeat",
        "batch_size=64 preprocess_threads=7 keep_in_memory=1 drop_behind=1",
        "batch_size=11 preprocess_threads=0 on_error=skip verbose=0 record_draws=1",
    };
    struct image_set s = make(3);
    struct stream right = read_sweeps(&s, _i, "batch_size=5 preprocess_threads=1", 3);
    uint32_t seen[3][RECORDS] = {{0}};
    for (size_t i = 0, sweep = 0; i < right.n; i++)
        if (right.seen[i].status == IMREC_END)
            sweep++;
        else
            seen[sweep][set_record_of(right.seen[i].id)]++;
    for (size_t i = 0; i < 3 * RECORDS; i++)
        if (seen[i / RECORDS][i % RECORDS] != 1)
            ck_abort_msg("sweep %zu has record %zu %u times", i / RECORDS, i % RECORDS,
                         seen[i / RECORDS][i % RECORDS]);
    ck_assert_uint_eq(right.n, 3 * (RECORDS + 1));
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
        struct stream other = read_sweeps(&s, _i, ways[w], 3);
        streams_must_equal(&other, &right, ways[w]);
        stream_free(&other);
    }
    stream_free(&right);
    image_set_free(&s);
}

LOOP_TEST(partitions_hold_every_record_once, 0, ORDERS) /* _i: order */
{
    for (uint32_t shards = 1; shards <= 4; shards += 3) {
        struct image_set s = make(shards);
        for (int parts = 1; parts <= 9; parts++) {
            uint32_t seen[RECORDS] = {0};
            for (int part = 0; part < parts; part++) {
                char words[128];
                snprintf(words, sizeof(words), "num_parts=%d part_index=%d batch_size=%d", parts,
                         part, 1 + parts);
                struct stream out = read_sweeps(&s, _i, words, 1);
                for (size_t i = 0; i < out.n; i++)
                    if (out.seen[i].status == IMREC_OK)
                        seen[set_record_of(out.seen[i].id)]++;
                stream_free(&out);
            }
            for (uint32_t i = 0; i < RECORDS; i++)
                if (seen[i] != 1)
                    ck_abort_msg("%d parts: record %u %u times", parts, i, seen[i]);
        }
        image_set_free(&s);
    }
}

LOOP_TEST(without_shuffle_it_is_the_order_of_the_files, 0, 2) /* _i: order 0 or 1 */
{
    struct image_set s = make(4);
    struct stream out = read_sweeps(&s, _i, "", 2);
    for (uint32_t i = 0; i < RECORDS; i++) {
        ck_assert_uint_eq(out.seen[i].id, set_id(i));
        ck_assert_uint_eq(out.seen[RECORDS + 1 + i].id, set_id(i));
    }
    stream_free(&out);
    image_set_free(&s);
}

static uint32_t equal_ids(const struct seen *a, const struct seen *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        n += a[i].id == b[i].id;
    return n;
}

LOOP_TEST(sweeps_and_seeds_have_orders_and_draws_of_their_own, 2, ORDERS) /* _i: shuffled order */
{
    struct image_set s = make(1);
    struct stream one = read_sweeps(&s, _i, "", 2);
    struct stream other = read_sweeps(&s, _i, "seed=4", 2);
    ck_assert_uint_lt(equal_ids(one.seen, one.seen + RECORDS + 1), 10);
    ck_assert_uint_lt(equal_ids(one.seen, other.seen), 10);
    uint32_t same_pixels = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        for (uint32_t k = 0; k < RECORDS; k++)
            same_pixels += one.seen[i].id == one.seen[RECORDS + 1 + k].id &&
                           one.seen[i].hash == one.seen[RECORDS + 1 + k].hash;
    ck_assert_uint_lt(same_pixels, RECORDS / 4); /* few crops fit into 14 px */
    stream_free(&one);
    stream_free(&other);
    image_set_free(&s);
}

TEST(draws_do_not_depend_on_the_way_a_sample_came) /* with an index or without */
{
    struct image_set s = make(2);
    struct stream plain = read_sweeps(&s, 0, "seed=3", 1);
    for (int order = 1; order < ORDERS; order++) {
        struct stream other = read_sweeps(&s, order, "seed=3", 1);
        for (uint32_t i = 0; i < RECORDS; i++)
            if (other.seen[i].hash != plain.seen[set_record_of(other.seen[i].id)].hash)
                ck_abort_msg("order %d: id %d", order, (int)other.seen[i].id);
        stream_free(&other);
    }
    stream_free(&plain);
    image_set_free(&s);
}

static struct stream read_wrapped(const struct image_set *s, const char *words, size_t most)
{
    struct stream out = {0};
    struct imrec_iter *it = set_open(s, false, words);
    stream_read(&out, it, SAMPLE_BYTES, 1, most);
    imrec_iter_close(it);
    return out;
}

TEST(wrap_is_the_same_stream_without_ends)
{
    struct image_set s = make(2);
    struct stream plain = read_sweeps(&s, 2, "", 3);
    char words[256];
    snprintf(words, sizeof(words), "%s%s last_batch=wrap batch_size=37", orders[2].words, draws);
    struct stream wrapped = read_wrapped(&s, words, 3 * RECORDS);
    for (size_t i = 0, k = 0; k < 3 * RECORDS; i++) {
        if (plain.seen[i].status == IMREC_END)
            continue;
        ck_assert(plain.seen[i].hash == wrapped.seen[k].hash);
        k++;
    }
    stream_free(&plain);
    stream_free(&wrapped);
    image_set_free(&s);
}
